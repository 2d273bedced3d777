import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { formatTime } from '../../src/candles/text.js'
import { RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import {
  candle,
  FULL_WEEKS,
  FUTURE_WEEK,
  OPEN_WEEK,
  putFile,
  RENDERED,
  type Row,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const [WEEK] = FULL_WEEKS
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
/** What every run requests: the two windows that are not full. */
const NOT_FINAL = [path(OPEN_WEEK), path(FUTURE_WEEK)]

async function setUp() {
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox)
  const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm']
  return { sandbox, server, tree: server.root, args }
}

describe('values that the service restated in a final window', () => {
  const rows = weekRows(WEEK)
  rows[2] = rows[2].with(5, '9.99000000').with(8, 43) as Row
  rows[4] = rows[4].with(11, 'x\u001B[31my') as Row
  const isoTime = (row: number) => new Date(rows[row][0]).toISOString()

  it('are invisible to a plain download; --refresh counts them, -v lists them on stderr, --json in the object', async () => {
    const { sandbox, server, tree, args } = await setUp()
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    await sandbox.shell('cp -rp m m2; cp -rp m m3')
    putFile(tree, path(WEEK), rows, RENDERED + 86_400_000)
    server.reset()
    const plain = await sandbox.call(args)
    expect(server.paths('windows').sort()).toEqual(NOT_FINAL)
    expect(plain.stdout).not.toContain('other values')

    const text = await sandbox.call([...args, '--refresh'])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toContain(
      [
        '\n2 cached candles changed:',
        `  BTCUSDT 15m ${formatTime(rows[2][0])}`,
        '    volume 3.50000000 -> 9.99000000',
        '    count 42 -> 43',
        `  BTCUSDT 15m ${formatTime(rows[4][0])}`,
        '    ignore 0 -> x?[31my\n',
      ].join('\n'),
    )
    expect(JSON.parse(sandbox.text(`m/${path(WEEK)}`))).toEqual(rows)

    const verbose = await sandbox.call([...args.slice(0, -1), 'm2', '--refresh', '-v'])
    const lines = verbose.stderr.split('\n')
    const first = lines.indexOf(`BTCUSDT 15m ${WEEK}: fetched`)
    expect(lines.slice(first + 1, first + 4)).toEqual([
      `BTCUSDT 15m ${isoTime(2)} volume 3.50000000 -> 9.99000000`,
      `BTCUSDT 15m ${isoTime(2)} count 42 -> 43`,
      `BTCUSDT 15m ${isoTime(4)} ignore 0 -> x?[31my`,
    ])
    expect(lines.filter(line => line.includes('->'))).toHaveLength(3)

    const json = await sandbox.call([...args.slice(0, -1), 'm3', '--refresh', '--json', '-v'])
    expect(json).toMatchObject({ code: 0, stderr: '' })
    const report = JSON.parse(json.stdout)
    expect(Check(RunSchema, report)).toBe(true)
    expect(report.series[0]).toMatchObject({ restated: 2, windows: { total: 8, fetched: 8 } })
    expect(report.series[0].changes).toEqual([
      { openTime: rows[2][0], column: 'volume', before: '3.50000000', after: '9.99000000' },
      { openTime: rows[2][0], column: 'count', before: '42', after: '43' },
      { openTime: rows[4][0], column: 'ignore', before: '0', after: 'x\u001B[31my' },
    ])
  })
})

describe('changes.jsonl', () => {
  const recorded = (sandbox: CliSandbox) => {
    const lines = sandbox.text('m/changes.jsonl').trimEnd().split('\n')
    return lines.map(line => JSON.parse(line))
  }

  const changed = (open: string, factor: number) => {
    const rows = weekRows(open)
    for (const row of [0, 1]) rows[row] = rows[row].map((cell, index) => (index === 5 ? `${factor}.5` : cell)) as Row
    return rows
  }

  it('has every changed cell of all runs, the newest last, also when the windows were exported to stdout', async () => {
    const { sandbox, tree, args } = await setUp()
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    expect(sandbox.exists('m/changes.jsonl')).toBe(false)
    for (const [index, week] of FULL_WEEKS.slice(0, 3).entries())
      putFile(tree, path(week), changed(week, index + 1), RENDERED + 86_400_000)
    const toStdout = await sandbox.call([...args, '--refresh', '-f', 'csv'])
    expect(toStdout.code).toBe(0)
    expect(toStdout.stderr.split('\n').slice(0, 3)).toEqual([
      '6 cached candles changed:',
      `  BTCUSDT 15m ${WEEK} 00:00`,
      '    volume 3.50000000 -> 1.5',
    ])
    expect(toStdout.stderr).toMatch(/\n {2}and more; changes\.jsonl in the mirror has all of them\.\n/)
    expect(toStdout.stderr.match(/ -> /g)).toHaveLength(5)
    putFile(tree, path(WEEK), changed(WEEK, 7), RENDERED + 2 * 86_400_000)
    const quiet = await sandbox.call([...args, '--refresh', '-q'])
    expect(quiet).toMatchObject({ code: 0, stdout: '' })
    expect(quiet.stderr).toMatch(/^2 cached candles changed:\n {2}BTCUSDT 15m .*\n( {4}volume .* -> 7\.5\n)/)

    const cells = recorded(sandbox)
    expect(cells).toHaveLength(8)
    expect(cells.at(-1)).toEqual({
      time: expect.any(Number),
      symbol: 'BTCUSDT',
      interval: '15m',
      startDate: WEEK,
      openTime: weekRows(WEEK)[1][0],
      column: 'volume',
      before: '1.5',
      after: '7.5',
    })

    // A candle that fills a gap is none that changed.
    const filled = changed(WEEK, 8).toSpliced(1, 0, candle(Date.parse(WEEK) + 900_000))
    putFile(tree, path(WEEK), filled, RENDERED + 3 * 86_400_000)
    const piped = await sandbox.call([...args, '--refresh', '-q', '-f', 'jsonl', '-o', '-'])
    expect(piped.stdout.trimEnd().split('\n')).toHaveLength(43)
    expect(piped.stderr).toMatch(/^2 cached candles changed:\n {2}BTCUSDT 15m .*\n( {4}volume .* -> 8\.5\n)/)
    expect(piped.stderr).not.toContain('added')
    // One is withdrawn: the window stays as it is.
    putFile(tree, path(OPEN_WEEK), weekRows(OPEN_WEEK, { days: 1 }), RENDERED + 3 * 86_400_000)
    const kept = 'No new candles. Windows: 0 downloaded, 1 revalidated, 6 cached, 1 kept as cached.\n'
    expect((await sandbox.call(args)).stdout).toContain(kept)
  })
})
