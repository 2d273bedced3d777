import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { ChartSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { afterBar, atTerminal, hasScript, type TerminalOptions } from '../support/cli/terminal.js'
import { makeQuarterHours, QUARTER, quarterHours } from '../support/quarter-hour-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { candle, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()

const DAY = 86_400_000
/** Monday. */
const WEEK = Date.UTC(2025, 1, 10)
/** The last candle opens on Wednesday at 11:45. */
const END = WEEK + 2 * DAY + 12 * 3_600_000
const NEWEST = weekPath('BTCUSDT', '2025-02-10')

let tree: string
beforeAll(() => {
  tree = makeQuarterHours(newSandbox().path('tree'), ['BTCUSDT', 'ETHUSDT'], Date.UTC(2025, 0, 10), END)
})

/** A service with candles since 2025-01-10, and the arguments that name it. */
async function setUp(): Promise<{ sandbox: CliSandbox; server: TreeServer; args: string[] }> {
  const sandbox = newSandbox()
  const server = await TreeServer.start(tree)
  server.date = sandbox.now = END + 60_000
  return { sandbox, server, args: ['-i', '15m', '--base-url', server.url, '--mirror', 'm'] }
}

/** Two title lines of one chart, and the rows that name a price at the axis. */
const axisLabels = (stdout: string) => stdout.split('\n').flatMap(line => /[┤◂] (\S+)$/.exec(line)?.[1] ?? [])

describe('without a range', () => {
  it('the newest candles that fit are drawn, and only their windows are requested', async () => {
    const { sandbox, server, args } = await setUp()
    const run = await sandbox.call(['chart', 'btc/usdt', ...args])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const lines = run.stdout.split('\n')
    // 64 columns of 80: 3 for the axis and 13 for its labels. The last candle opens at 11:45, 63 quarters after 20:00.
    const first = END - 64 * QUARTER
    const change = (100 * (price(END - QUARTER) - price(first))) / price(first)
    expect(lines[0]).toBe(`BTCUSDT 15m  2025-02-11 20:00 to 2025-02-12 11:45 UTC, 64 candles  +${change.toFixed(2)}%`)
    expect(lines.slice(1, 3).join(' ')).toMatch(new RegExp(`^high .* low .* last ${price(END - QUARTER)}$`))
    expect(lines[3]).toBe('')
    // All four prices of a candle are the same, so each is one mark, higher than the one before.
    const plot = lines.slice(4, 19).map(line => line.slice(0, 64).padEnd(64))
    const marksIn = (column: number) => plot.map(line => line[column].trim()).join('')
    expect(Array.from({ length: 64 }, (_, column) => marksIn(column))).toEqual(Array(64).fill('║'))
    expect(plot[0].trimEnd()).toHaveLength(64)
    expect(plot[14]).toMatch(/^║/)
    expect(lines).toHaveLength(25)
    expect(axisLabels(run.stdout)).toContain(String(price(END - QUARTER)))
    expect(server.paths('windows')).toEqual([NEWEST])
    expect(run.stdout).not.toContain('\x1b')
  })
})

describe('with a range', () => {
  it('all of it is drawn: resampled to the shortest interval that fits, which the title says', async () => {
    const { sandbox, args } = await setUp()
    const run = await sandbox.call(['chart', 'BTCUSDT', ...args, '--from', '2025-01-20', '--to', '2025-02-10'])
    // 21 days are 63 candles of 8 h, and 84 of 6 h.
    expect(run.stdout.split('\n').slice(0, 2).join(' ')).toMatch(
      /^BTCUSDT 8h {2}2025-01-20 00:00 to 2025-02-09 23:45 UTC, 63 candles,? .*15m resampled to 8h/,
    )
    const range = ['--from', '2025-01-20', '--to', '2025-02-10']
    const wide = await sandbox.call(['chart', 'BTCUSDT', ...args, ...range, '--width', '100'])
    expect(wide.stdout).toMatch(/^BTCUSDT 6h /)
    expect((await sandbox.call(['chart', 'BTCUSDT', ...args, ...range], { COLUMNS: '100' })).stdout).toBe(wide.stdout)
  })

  it('and --json, the object has the exact candles', async () => {
    const { sandbox, args } = await setUp()
    const range = ['--from', '2025-02-12', '--to', '2025-02-12T02:00']
    const run = await sandbox.call(['chart', 'BTCUSDT', 'ETHUSDT', ...args, ...range, '--json'])
    const object = parseObject(run.stdout, ChartSchema)
    const rows = quarterHours(Date.UTC(2025, 1, 12), Date.UTC(2025, 1, 12, 2)).map(row => row.slice(0, 6))
    const [from, to] = [Date.UTC(2025, 1, 12), Date.UTC(2025, 1, 12, 2)]
    expect(object).toMatchObject({ sample: false, range: { from, to } })
    const last = rows[7]
    expect(object.series.map(({ rows }) => rows)).toEqual([rows, rows])
    expect(object.series[1]).toMatchObject({
      symbol: 'ETHUSDT',
      interval: '15m',
      resampledFrom: null,
      candles: 8,
      missing: 0,
      high: { price: last[2], openTime: last[0] },
      low: { price: rows[0][3], openTime: rows[0][0] },
      last: last[4],
    })
  })
})

describe('a service that cannot be reached', () => {
  it('does not matter for what is cached, which a note says', async () => {
    const { sandbox, server, args } = await setUp()
    const before = await sandbox.call(['chart', 'BTCUSDT', ...args])
    server.always(NEWEST, { status: 429, headers: { 'retry-after': '3600' } })
    const limited = await sandbox.call(['chart', 'BTCUSDT', ...args])
    expect(limited).toMatchObject({ code: 0, stdout: before.stdout, stderr: expect.stringContaining('rate limited') })
    await server.stop()
    const none = await sandbox.call(['chart', 'BTCUSDT', ...args.slice(0, -1), 'none', '--retries', '0'])
    expect(none).toMatchObject({ code: 5, stdout: '' })
    const run = await sandbox.call(['chart', 'BTCUSDT', ...args])
    expect(run).toMatchObject({ code: 0, stdout: before.stdout })
    expect(run.stderr).toMatch(/^Note: The service at .* cannot be reached: .* Drawing what is cached\.\n$/)
    // A range that is cached in part: its other windows are missing from the chart.
    const range = await sandbox.call(['chart', 'BTCUSDT', ...args, '--from', '2025-02-01'])
    expect(range.code).toBe(0)
    expect(range.stdout).toMatch(/^BTCUSDT 1h {2}2025-02-10 00:00 to 2025-02-12 11:45 UTC, 60 candles/)
    expect(range.stderr).toMatch(/BTCUSDT 15m: 2 windows of the range not cached; the chart lacks their candles/)
  })
})

describe('--offline', () => {
  it('needs every window of a range, and names the missing ones: exit code 3', async () => {
    const { sandbox, server, args } = await setUp()
    await sandbox.call(['chart', 'BTCUSDT', ...args])
    server.reset()
    const run = await sandbox.call(['chart', 'BTCUSDT', ...args, '--offline', '--from', '2025-02-05'])
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain('not in the mirror (BTCUSDT 15m 2025-02-03)')
    expect(server.paths()).toEqual([])
  })

  it('a price beyond 1e308 is said to be none that can be drawn', async () => {
    const { sandbox, args } = await setUp()
    await sandbox.call(['chart', 'BTCUSDT', ...args])
    const [openTime, ...cells] = candle(WEEK)
    cells[1] = `${'9'.repeat(309)}.00000000`
    sandbox.write(`m/${NEWEST}`, JSON.stringify([[openTime, ...cells]]))
    const run = await sandbox.call(['chart', 'BTCUSDT', ...args, '--offline'])
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toBe('klines: BTCUSDT 15m has a price above 1e308, which cannot be drawn.\n')
  })
})

describe('characters and colours', () => {
  const GREEN = '\x1b[32m'

  it('follow --ascii, the locale, NO_COLOR and FORCE_COLOR in a pipe', async () => {
    const { sandbox, args } = await setUp()
    const draw = async (env: Record<string, string>, ...flags: string[]) =>
      (await sandbox.call(['chart', 'BTCUSDT', ...args, ...flags], env)).stdout
    const plain = await draw({})
    expect(plain).toContain('║')
    for (const ascii of [await draw({}, '--ascii'), await draw({ LC_CTYPE: 'C' }), await draw({ LC_ALL: 'POSIX' })]) {
      expect(ascii).toMatch(/^[ -~\n]*$/)
      expect(ascii).toContain('O')
    }
    const coloured = await draw({ FORCE_COLOR: '1' })
    expect(coloured).toContain(GREEN)
    expect(stripVTControlCharacters(coloured).replaceAll(/[╻╹]/g, '║')).toBe(plain)
    expect(await draw({ NO_COLOR: '1', FORCE_COLOR: '0' })).toBe(plain)
    expect(await draw({ LANG: 'en_US.utf8' })).toBe(plain)
  })

  const lines = (text: string) => stripVTControlCharacters(text).split('\r\n')
  const AT_TERMINALS: [string, TerminalOptions, boolean][] = [
    ['its width and its height: one row is left for the prompt', { columns: 60, rows: 24 }, true],
    ['TERM', { columns: 60, rows: 24, env: { TERM: 'dumb' } }, false],
  ]
  it.skipIf(!hasScript).each(AT_TERMINALS)('at a terminal follow %s', async (_, options, isColoured) => {
    const { sandbox, args } = await setUp()
    const stdout = afterBar((await atTerminal(sandbox, `klines chart BTCUSDT ${args.join(' ')}`, options)).stdout)
    expect([stdout.includes(GREEN), /[^ -~\r\n]/.test(stdout)]).toEqual([isColoured, isColoured])
    expect(Math.max(...lines(stdout).map(line => line.length))).toBeLessThanOrEqual(60)
    expect(lines(stdout)).toHaveLength(23 + 1)
  })
})

/** The price of a candle of the tree, by its rule: 1000.12345678 and more, by the number of its quarter. */
function price(openTime: number): number {
  return Number(candle(openTime)[1])
}
