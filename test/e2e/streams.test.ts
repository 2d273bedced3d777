import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ErrorSchema, RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { afterBar, atTerminal, hasScript, type TerminalOptions } from '../support/cli/terminal.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { makeTree, PRESENT } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const ROWS = sampleRows('BTCUSDT', '1d')
const EXPORT = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror']

/** A sandbox whose mirror has the sample's daily candles. */
const sandboxWithDays = usePreparedSandboxes(newSandbox, async sandbox => {
  const run = await sandbox.call('download BTCUSDT ETHUSDT -i 1d --base-url sample --mirror mirror -q'.split(' '))
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

describe.concurrent('stdout and stderr', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = await sandboxWithDays()
  })

  it.each([
    ['-o -', ['-o', '-'], `${JSON.stringify(ROWS)}\n`],
    ['no -o at all', [], `${JSON.stringify(ROWS)}\n`],
    ['-f csv', ['-f', 'csv'], csvOf(ROWS)],
    ['-q', ['-q', '-f', 'csv', '-o', '-'], csvOf(ROWS)],
  ])('carries the data and nothing else with %s', async (_, args, expected) => {
    const run = await sandbox.call([...EXPORT, ...args])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toBe(expected)
  })

  it('a window file and the json export of its candles are the same bytes', async () => {
    const run = await sandbox.call([...EXPORT, '--from', '2025', '--to', '2026'])
    const from = Date.UTC(2025)
    expect(JSON.parse(run.stdout)).toEqual(ROWS.filter(([openTime]) => (openTime as number) >= from))
    await sandbox.call([...EXPORT, '--from', '2024', '--to', '2026', '-o', 'whole.json', '-q'])
    expect(sandbox.bytes('whole.json').equals(sandbox.bytes('mirror/api/klines/1d/BTCUSDT/2024-01-01.json'))).toBe(true)
  })

  it('--json prints one object that matches the published schema', async () => {
    const run = await sandbox.call([...EXPORT, '--json', '-o', 'one.csv'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(parseObject(run.stdout, RunSchema)).toEqual({
      elapsedMs: expect.any(Number),
      newCandles: 0,
      baseUrl: 'sample',
      sample: true,
      mirror: 'mirror',
      range: { from: null, to: null },
      series: [
        {
          symbol: 'BTCUSDT',
          interval: '1d',
          candles: 91,
          newCandles: 0,
          cachedBytes: expect.any(Number),
          firstOpenTime: Date.UTC(2024, 11, 30),
          lastOpenTime: Date.UTC(2025, 2, 30),
          gaps: 0,
          missing: 0,
          restated: 0,
          changes: [],
          windows: { total: 6, cached: 6, fetched: 0, revalidated: 0, retained: 0 },
          coverage: {
            interval: '1d',
            requested: { from: null, to: null },
            first: Date.UTC(2024, 11, 30),
            last: Date.UTC(2025, 2, 30),
            shortAtStart: 0,
            shortAtEnd: 0,
          },
        },
      ],
      candles: 91,
      requests: 0,
      bytes: 0,
      files: [
        {
          path: 'one.csv',
          format: 'csv',
          compression: 'none',
          series: [{ symbol: 'BTCUSDT', interval: '1d' }],
          candles: 91,
          bytes: Buffer.byteLength(csvOf(ROWS)),
          inexactDoubles: 0,
        },
      ],
      warnings: [],
    })
  })

  it.each([[['-o', '-']], [[]]])('--json together with candles on stdout (%j) is a usage error', async args => {
    const run = await sandbox.call([...EXPORT, '--json', ...args])
    expect(run).toMatchObject({ code: 2, stderr: '' })
    expect(parseObject(run.stdout, ErrorSchema).error).toMatchObject({ code: 'bad_option', exitCode: 2 })
  })

  it.each([
    ['an unknown symbol', ['export', 'XXXUSDT', '-i', '1d', '-o', 'x.csv'], 'unknown_symbol', 2],
    ['a missing mirror', ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'none', '-o', 'x.csv'], 'window_missing', 3],
    ['a range without candles', [...EXPORT, '--from', '2024-01', '--to', '2024-02', '-o', 'x.csv'], 'no_candles', 4],
  ])('an error about %s is an object with --json and a message without, with the same exit code', async (...row) => {
    const [, args, code, exitCode] = row
    const [json, text] = await Promise.all([sandbox.call([...args, '--json']), sandbox.call(args)])
    expect(json).toMatchObject({ code: exitCode, stderr: '' })
    const { error } = parseObject(json.stdout, ErrorSchema)
    expect(error).toMatchObject({ code, exitCode })
    expect(text).toMatchObject({ code: exitCode, stdout: '' })
    expect(text.stderr.startsWith(`klines: ${error.message}\n`)).toBe(true)
  })

  it('KLINES_DEBUG=1 prints the stack of an error, -v does not', async () => {
    const args = ['export', 'XXXUSDT', '-i', '1d', '-v']
    const [plain, debug] = await Promise.all([sandbox.call(args), sandbox.call(args, { KLINES_DEBUG: '1' })])
    expect(plain.stderr).not.toMatch(/^\s+at /m)
    expect(debug.stderr).toMatch(/^\s+at unknownSymbols/m)
    expect([plain.code, debug.code]).toEqual([2, 2])
  })

  it('-q wins over -v', async () => {
    const quiet = await sandbox.call([...EXPORT, '-q'])
    expect(await sandbox.call([...EXPORT, '-q', '-v'])).toMatchObject({ code: 0, stdout: quiet.stdout, stderr: '' })
  })

  it('-q leaves errors on stderr', async () => {
    const run = await sandbox.call(['export', 'XXXUSDT', '-i', '1d', '-q'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('XXXUSDT')
  })
})

it.concurrent('a warning goes to stderr, into the object with --json, and nowhere with -q', async () => {
  const withCorruptWindow = async (...args: string[]) => {
    const sandbox = await sandboxWithDays()
    sandbox.write('mirror/api/klines/1d/BTCUSDT/2024-01-01.json', '[[')
    const run = await sandbox.call(['download', ...EXPORT.slice(1), '--base-url', 'sample', '-o', 'x.csv', ...args])
    expect(sandbox.text('x.csv')).toBe(csvOf(ROWS))
    expect(run.code).toBe(0)
    return run
  }
  const [text, json, quiet] = await Promise.all([
    withCorruptWindow(),
    withCorruptWindow('--json'),
    withCorruptWindow('-q'),
  ])
  expect(text.stderr).toMatch(/^Note: .*BTCUSDT 1d 2024-01-01.*\n$/)
  expect(json.stderr).toBe('')
  expect(parseObject(json.stdout, RunSchema).warnings).toEqual([expect.stringContaining('BTCUSDT 1d 2024-01-01')])
  expect(quiet).toMatchObject({ stdout: '', stderr: '' })
})

describe.skipIf(!hasScript)('at a terminal (skipped without script of util-linux)', { concurrent: true }, () => {
  it.each(['parquet', 'arrow'])('%s is refused, and no binary data is printed', async format => {
    const sandbox = await sandboxWithDays()
    const run = await atTerminal(sandbox, `klines ${EXPORT.join(' ')} -f ${format} -o -`)
    expect(run.code).toBe(2)
    expect(run.stdout).toContain('terminal')
    expect(run.stdout).not.toMatch(/PAR1|ARROW1/)
  })

  it.each([
    ['CSV with -f', '-f csv -o -', csvOf(ROWS)],
    ['json with -f, and a line end after it', '-f json', `${JSON.stringify(ROWS)}\n`],
    ['jsonl with -f', '-f jsonl --columns count', ROWS.map(row => `{"count":${row[8]}}\n`).join('')],
  ])('data is %s', async (_, flags, expected) => {
    const sandbox = await sandboxWithDays()
    const run = await atTerminal(sandbox, `klines ${EXPORT.join(' ')} -q ${flags}`)
    expect(run.code).toBe(0)
    const data = run.stdout.replaceAll('\r\n', '\n')
    expect(data).toBe(expected)
  })

  it.each(['', '-o -', '-o /dev/stdout'])('without a format candles are a table (%s)', async flags => {
    const sandbox = await sandboxWithDays()
    const run = await atTerminal(sandbox, `klines ${EXPORT.join(' ')} ETHUSDT ${flags}`, { columns: 80 })
    const lines = afterBar(run.stdout).trimEnd().split('\r\n')
    expect(run.code).toBe(0)
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(80)
    const heads = [0, 24].map(at => lines[at])
    expect(heads).toEqual(['BTCUSDT', 'ETHUSDT'].map(name => `${name} 1d, times in UTC, synthetic sample data`))
    const [time, open, high, low, close, volume, , , count] = ROWS[90]
    const cells = [new Date(time).toISOString().slice(0, 10), open, high, low, close, volume, count].map(String)
    const newest = lines[21].split(/ +/)
    for (const [index, cell] of newest.entries())
      expect(cells[index].replace(/\.?0*$/, '')).toBe(cell.replace(/\.?0*$/, ''))
    expect(newest).toHaveLength(cells.length)
    expect(lines[22]).toBe('… 71 more; -o FILE writes all')
    expect(lines.at(-1)).toBe('… 71 more; -o FILE writes all. 5 more columns: --columns')
  })

  it('only of a file without a named format one sentence says what is in it', async () => {
    const sandbox = await sandboxWithDays()
    const exported = async (flags: string) => {
      const { stderr } = await sandbox.shell(`klines ${EXPORT.join(' ')} ${flags}`)
      return [stderr, sandbox.text('x')]
    }
    const rows = `${JSON.stringify(ROWS)}\n`
    const cases = [
      ['> x', 'Note: JSON rows, one array; -f csv writes CSV.\n'],
      ['-f json > x', ''],
      ['| cat > x', ''],
    ]
    for (const [flags, note] of cases) expect(await exported(flags)).toEqual([note, rows])
  })

  it('KLINES_FORMAT is the default at a terminal too', async () => {
    const sandbox = await sandboxWithDays()
    const run = await atTerminal(sandbox, `klines ${EXPORT.join(' ')} -q`, { env: { KLINES_FORMAT: 'json' } })
    expect(run.stdout).toBe(`${JSON.stringify(ROWS)}\r\n`)
  })

  it.each(['parquet', 'arrow'])('%s is written into a pipe', async format => {
    const sandbox = await sandboxWithDays()
    const run = await sandbox.call([...EXPORT, '-f', format, '-o', '-'])
    expect(run.code).toBe(0)
    expect(run.stderr).toMatch(/^Note: stdout: \d+ decimals .*--numbers decimal.*\n$/)
    expect(run.bytes.toString('latin1')).toMatch(format === 'parquet' ? /^PAR1[\s\S]*PAR1$/ : /^ARROW1[\s\S]*ARROW1$/)
  })

  /** Its service costs the program less than a sample server of its own. */
  let service: TreeServer
  beforeAll(async () => {
    service = await TreeServer.open(makeTree(newSandbox().folder))
    service.date = PRESENT
  })
  afterAll(() => service.stop())
  const downloadAtTerminal = (flags: string, options: TerminalOptions) => {
    const sandbox = newSandbox()
    sandbox.now = PRESENT
    return atTerminal(sandbox, `klines download BTCUSDT -i 15m --base-url ${service.url} ${flags}`, options)
  }
  const [SPINS, COLOURS] = ['\u001B[?25l', '\u001B[36m']

  it.each<[string, string, TerminalOptions, boolean, boolean]>([
    ...([
      ['is shown, with colours', '', {}, true, true],
      ['is shown without colours with NO_COLOR', '', { env: { NO_COLOR: '1' } }, true, false],
      ['is not shown on a dumb terminal', '', { env: { TERM: 'dumb' } }, false, false],
      ['is not shown on a terminal without a width', '', { columns: 0 }, false, false],
      ['is not shown with -q', '-q', {}, false, false],
      ['is not shown with --json', '--json', {}, false, false],
    ] as [string, string, TerminalOptions, boolean, boolean][]),
  ])('progress %s', async (_, flags, options, spins, hasColours) => {
    const run = await downloadAtTerminal(flags, options)
    expect(run.code).toBe(0)
    expect([run.stdout.includes(SPINS), run.stdout.includes(COLOURS)]).toEqual([spins, hasColours])
  })
})
