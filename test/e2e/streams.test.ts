import { beforeAll, describe, expect, it } from 'vitest'
import { ErrorSchema, RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { afterBar, atTerminal, hasScript } from '../support/cli/terminal.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'

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
    ['-f csv', ['-f', 'csv'], csvOf(ROWS)],
    ['-q', ['-q', '-f', 'csv', '-o', '-'], csvOf(ROWS)],
  ])('carries the data and nothing else with %s', async (_, args, expected) => {
    const run = await sandbox.call([...EXPORT, ...args])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toBe(expected)
  })

  it('--json together with candles on stdout is a usage error', async () => {
    for (const args of [EXPORT, [...EXPORT, '-f', 'csv', '-o', '/dev/fd/1'], ['lock', ...EXPORT.slice(1), '-o', '-']]) {
      const run = await sandbox.call([...args, '--json'])
      expect(run).toMatchObject({ code: 2, stderr: '' })
      expect(parseObject(run.stdout, ErrorSchema).error).toMatchObject({ code: 'bad_option', exitCode: 2 })
    }
  })

  const DATA =
    'symbols, intervals, start-dates 1d, mirror, stats BTCUSDT -i 1d, verify BTCUSDT -i 1d, config, completion zsh'
  const MORE = 'fingerprint BTCUSDT -i 1d, diff mirror mirror, chart BTCUSDT -i 1d --offline'
  it('-q leaves out the summary of a run, and nothing that was asked for', async () => {
    const env = { KLINES_MIRROR: 'mirror', KLINES_BASE_URL: 'sample' }
    for (const command of `${DATA}, ${MORE}`.split(', ')) {
      const { stdout } = await sandbox.call(command.split(' '), env)
      expect(stdout, command).toMatch(/\n$/)
      expect(await sandbox.call([...command.split(' '), '-q'], env), command).toMatchObject({ code: 0, stdout })
    }
    for (const command of ['update -q', 'lock BTCUSDT -i 1d -q', 'mirror publish -q', 'config set threads 2 -q'])
      expect(await sandbox.call(command.split(' '), env), command).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })
})

describe.concurrent('stdout under another name', () => {
  const csv = csvOf(ROWS)
  const command = `klines ${EXPORT.join(' ')}`

  it.each<[string, string, string]>([
    ['a link of a series', `ln -s /dev/stdout BTCUSDT.csv.gz; ${command} -o '{symbol}.csv.gz' | gzip -d`, csv],
    ['a file that is appended to', `echo first > x.csv; ${command} -o ./x.csv >> x.csv; cat x.csv`, `first\n${csv}`],
    ['a FIFO', `mkfifo pipe; cat pipe & ${command} -f csv -o pipe > pipe; wait`, csv],
  ])('carries the data and no summary: %s', async (_, script, expected) => {
    const sandbox = await sandboxWithDays()
    expect(await sandbox.shell(script)).toMatchObject({ code: 0, stdout: expected, stderr: '' })
  })

  it.each<[string, Record<string, string>, string]>([
    ['-o /proc/self/fd/1', {}, `${JSON.stringify(ROWS)}\n`],
    ['-f csv', { KLINES_OUTPUT: '/dev/fd/1' }, csv],
  ])('carries the data and no summary: %s %j', async (args, env, stdout) => {
    const run = await (await sandboxWithDays()).call([...EXPORT, ...args.split(' ')], env)
    expect(run).toMatchObject({ code: 0, stdout, stderr: '' })
  })

  it.each(['lock BTCUSDT -i 1d', 'chart BTCUSDT -i 1d --offline', 'download BTCUSDT -i 1d --base-url sample'])(
    'is that of %s, too',
    async command => {
      const sandbox = await sandboxWithDays()
      const args = [...command.split(' '), '--mirror', 'mirror', '-o']
      const { stdout, stderr } = await sandbox.call([...args, '-'])
      expect(stdout).toMatch(/^[[{<]/)
      expect(await sandbox.call([...args, '/dev/fd/1'])).toMatchObject({ code: 0, stdout, stderr })
    },
  )
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
  const [text, json, quiet] = await Promise.all([[], ['--json'], ['-q']].map(args => withCorruptWindow(...args)))
  expect(text.stderr).toMatch(/^Note: .*BTCUSDT 1d 2024-01-01.*\n$/)
  expect(json.stderr).toBe('')
  expect(parseObject(json.stdout, RunSchema).warnings).toEqual([expect.stringContaining('BTCUSDT 1d 2024-01-01')])
  expect(quiet).toMatchObject({ stdout: '', stderr: '' })
})

describe.skipIf(!hasScript)('at a terminal (skipped without script of util-linux)', { concurrent: true }, () => {
  it('parquet is refused, and no binary data is printed', async () => {
    const run = await atTerminal(await sandboxWithDays(), `klines ${EXPORT.join(' ')} -f parquet -o -`)
    expect(run.code).toBe(2)
    expect(run.stdout).toContain('terminal')
    expect(run.stdout).not.toMatch(/PAR1|ARROW1/)
  })

  it('data is json with -f, and a line end after it', async () => {
    const run = await atTerminal(await sandboxWithDays(), `klines ${EXPORT.join(' ')} -q -f json -o /dev/stdout`)
    expect(run).toMatchObject({ code: 0, stdout: `${JSON.stringify(ROWS)}\r\n` })
  })

  it('without a format candles are a table', async () => {
    const sandbox = await sandboxWithDays()
    const run = await atTerminal(sandbox, `klines ${EXPORT.join(' ')} ETHUSDT`, { columns: 80 })
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
    expect(lines[22]).toBe('... 71 more; -o FILE writes all')
    expect(lines.at(-1)).toBe('... 71 more; -o FILE writes all. 5 more columns: --columns')
  })
})
