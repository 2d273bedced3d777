import { cpSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SqlSchema } from '../../src/cli/reports/schema.js'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { until } from '../support/deferred.js'
import { oneOf } from '../support/full.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { processorMs } from '../support/process-figures.js'
import { SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const DAYS = sampleRows('BTCUSDT', '1d')
const COUNT = `select count(*)::int as n from candles('BTCUSDT', '1d')`
const MIRROR = ['--mirror', SAMPLE_TREE]
const JSON_COUNT = '[\n{"n":91}\n]\n'

/** Makes a lake of the sample in `lake` of a sandbox. */
async function makeLake(sandbox: CliSandbox, ...options: string[]): Promise<void> {
  const series = ['export', 'BTCUSDT', 'ETHUSDT', '-i', '1h,1d', '--mirror', SAMPLE_TREE, '--numbers', 'decimal']
  const run = await sandbox.call([...series, '--layout', 'hive', '-o', 'lake', '-q', ...options])
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
}

const withLake = usePreparedSandboxes(newSandbox, makeLake)

describe.concurrent('klines sql', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = await withLake()
  })

  it('has the same candles over a lake and over the mirror, with every digit', async () => {
    const sql = `select epoch_ms(open_time) as t, high, volume, count from candles('BTCUSDT', '1d') order by t`
    const expected = DAYS.map(
      row => `{"t":${row[0]},"high":"${row[2]}","volume":"${row[5]}","count":${row[8]}}\n`,
    ).join('')
    for (const source of [['--lake', 'lake'], MIRROR]) {
      const run = await sandbox.call(['sql', sql, '-f', 'jsonl', ...source])
      expect(run).toMatchObject({ code: 0, stderr: '', stdout: expected })
    }
  })

  it.each([
    ['-- the days', []],
    ['--the days', []],
    ['--', []],
    ['--\tthe=days', ['--']],
  ])('takes SQL that begins with the comment "%s" as an argument', async (comment, before) => {
    for (const args of [
      [...before, `${comment}\n${COUNT}`],
      ...(before.length > 0 ? [] : [[`${comment}\n${COUNT}`, '-f', 'json', '--threads', '1']]),
    ])
      expect(await sandbox.call(['sql', ...MIRROR, ...args])).toMatchObject({ code: 0, stderr: '', stdout: JSON_COUNT })
  })

  it('and still names a flag that it does not know', async () => {
    const run = await sandbox.call(['sql', '--lak', 'x', COUNT])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('Unknown flag: --lak.\n  Did you mean --lake?')
  })

  it('says that a query was not run over a range without candles', async () => {
    const run = await sandbox.call(['sql', COUNT, ...MIRROR, '--from', '2001-01-01', '--to', '2001-02-01'])
    expect(run).toMatchObject({ code: 4, stdout: '' })
    expect(run.stderr).toContain('2001-02-01T00:00:00.000Z; the query was not run.')
  })

  it('has the same columns and types over both', async () => {
    const describeSql = `describe from candles('BTCUSDT', '1d')`
    const [lake, mirror] = await Promise.all(
      [['--lake', 'lake'], MIRROR].map(source => sandbox.call(['sql', describeSql, '-f', 'csv', ...source])),
    )
    expect(lake.stdout).toBe(mirror.stdout)
    expect(lake.stdout).toContain('\nopen_time,TIMESTAMP WITH TIME ZONE,')
    expect(lake.stdout).toContain('\nclose,"DECIMAL(38,8)",')
  })

  it('klines is all series of a lake', async () => {
    const sql = 'select symbol, interval, count(*) as n from klines group by all order by all'
    const run = await sandbox.call(['sql', '--lake', 'lake', '-f', 'csv', sql])
    const hours = sampleRows('ETHUSDT', '1h').length
    expect(run.stdout).toBe(
      `symbol,interval,n\nBTCUSDT,1d,91\nBTCUSDT,1h,${hours}\nETHUSDT,1d,91\nETHUSDT,1h,${hours}\n`,
    )
  })

  it('a lake of months is read as one', async () => {
    const months = newSandbox()
    await makeLake(months, '--partition', 'month')
    expect(await months.call(['sql', '--lake', 'lake', COUNT])).toMatchObject({ code: 0, stdout: JSON_COUNT })
  })

  it('a file has the result, as its extension says', async () => {
    const sql = `select open_time, close, sum(count) over () as trades from candles('BTCUSDT', '1d') order by open_time`
    const trades = DAYS.reduce((sum, row) => sum + Number(row[8]), 0)
    for (const name of ['r.csv', 'r.jsonl', 'r.parquet']) {
      const run = await sandbox.call(['sql', sql, '--lake', 'lake', '-o', name, '--json'])
      expect(run).toMatchObject({ code: 0, stderr: '' })
      const bytes = sandbox.bytes(name).length
      expect(parseObject(run.stdout, SqlSchema)).toEqual({
        path: name,
        format: name.slice(2),
        rows: 91,
        bytes,
        warnings: [],
      })
      const close = name === 'r.parquet' ? 'close' : 'close::decimal(38, 8)'
      const { rows, types } = await duckdb(
        `select count(*)::int as n, sum(${close})::varchar as total, max(trades)::varchar as trades,
         any_value(close) as close from '${sandbox.path(name)}'`,
      )
      const total = DAYS.reduce((sum, row) => sum + BigInt(String(row[4]).replace('.', '')), 0n)
      expect(rows[0]).toMatchObject({ n: 91, trades: String(trades) })
      expect(String(rows[0].total).replace('.', '')).toBe(String(total))
      if (name === 'r.parquet') expect(types.close).toBe('DECIMAL(38,8)')
    }
    const { types } = await duckdb(`from '${sandbox.path('r.parquet')}'`)
    expect(types.trades).toBe('DECIMAL(38,0)')
  })

  it('the same query gives the same bytes, whatever the time zone of the machine', async () => {
    const sql = `select month(open_time) as m, stddev(close) as s, min(open_time) as t from klines group by symbol, m`
    const args = ['sql', sql, '--lake', 'lake']
    const zones = oneOf(3, ['America/New_York', 'Asia/Kathmandu', 'UTC'])
    // The calls have the time zone of the tests.
    const runs = await Promise.all([
      ...[1, 2].map(() => sandbox.call(args)),
      ...zones.map(TZ => sandbox.run(args, { TZ })),
    ])
    expect(runs[0]).toMatchObject({ code: 0, stderr: '' })
    expect(runs[0].stdout).toMatch(/"t":"2024-12-30T00:00:00.000Z"/)
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
  })

  // At a terminal, it is read without the argument.
  it('reads SQL from stdin (-)', async () => {
    const run = await sandbox.shell(`printf "%s" "${COUNT}" | klines sql - --lake lake`)
    expect(run).toMatchObject({ code: 0, stderr: '', stdout: JSON_COUNT })
  })

  it('stdin is read as it is, to its end', async () => {
    // What oclif reads as an argument has no empty lines in front.
    const run = await sandbox.shell(String.raw`printf '\n\nselec 1' | klines sql --lake lake`)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('LINE 3: selec 1')
  })

  it.each<[string, string[], string]>([
    ['selec 1', [], 'Parser Error: syntax error at or near "selec"\n\nLINE 1: selec 1\n        ^'],
    ["select error('no')", [], 'Invalid Input Error: no'],
    ['', [], 'The SQL is empty. Expected a select statement.'],
    [
      "select * from read_text('/etc/passwd')",
      [],
      'Permission Error: Cannot access file "/etc/passwd" - file system operations are disabled by configuration',
    ],
    ["copy (select 1) to 'x.csv'", [], 'klines sql only reads.'],
    ['select 1; select 2', [], 'The SQL has 2 statements.'],
    ["from candles('BTCUSD', '1d')", [], 'The lake lake has no series BTCUSD 1d. Expected one of BTCUSDT 1d'],
    ['select 1', ['-o', 'x.txt'], 'The name x.txt has no known extension.'],
    ['select 1', ['--json'], '--json prints an object on stdout'],
    ['select 1', ['--mirror', 'm'], '--lake and --mirror do not go together'],
  ])('%s %j is exit code 2 with one message', async (sql, args, message) => {
    const run = await sandbox.call(['sql', sql, '--lake', 'lake', ...args])
    expect(run).toMatchObject({ code: 2 })
    const text = run.stderr || JSON.parse(run.stdout).error.message
    expect(text.replace(/^klines: /, '').startsWith(message), text).toBe(true)
    expect(run.stderr).not.toMatch(/^\s+at /m)
    expect(sandbox.exists('x.csv')).toBe(false)
  })

  it('a query that fails in its middle leaves the old file, and no other', async () => {
    const place = newSandbox()
    place.write('old.csv', 'old')
    const sql = `select case when range = 290000 then error('in the middle') else range end as x from range(300000)`
    for (const name of ['old.csv', 'new.csv', 'new.parquet']) {
      const run = await place.call(['sql', sql, '-o', name, '--force'])
      expect(run).toMatchObject({ code: 2, stdout: '', stderr: 'klines: Invalid Input Error: in the middle\n' })
    }
    expect(place.files()).toEqual(['old.csv'])
    expect(place.text('old.csv')).toBe('old')
    expect(await place.call(['sql', 'select 1', '-o', 'old.csv'])).toMatchObject({ code: 2 })
    expect(await place.call(['sql', 'select 1 as x', '-o', 'old.csv', '--force'])).toMatchObject({ code: 0 })
    expect(place.text('old.csv')).toBe('x\n1\n')
  })

  it('Ctrl-C interrupts a query that runs: exit code 130', async () => {
    const endless = 'select count(*) from range(1000000000) a, range(1000000000) b where a.range + b.range = 7'
    const { child, ended } = sandbox.start(['sql', endless, '--lake', 'lake'])
    // Only the query takes so much of the processor.
    await until(() => processorMs(child.pid) > 1_600)
    const signalled = performance.now()
    child.kill('SIGINT')
    const run = await ended
    expect(run).toMatchObject({
      code: 130,
      stdout: '',
      stderr: 'klines: Interrupted (SIGINT). Nothing was written.\n',
    })
    expect(performance.now() - signalled).toBeLessThan(30_000)
  })

  it('a reader that stops ends it quietly', async () => {
    const run = await sandbox.shell(
      `klines sql "select * from range(3000000)" -f csv --lake lake | head -2; echo "\${PIPESTATUS[@]}"`,
    )
    expect(run).toMatchObject({ stdout: 'range\n0\n0 0\n', stderr: '' })
  })
})

describe.concurrent('klines sql over a mirror', () => {
  it('never leaves out a window that is missing or corrupt: exit code 3', async () => {
    const sandbox = newSandbox()
    const download = ['download', 'BTCUSDT', '-i', '1h', '--base-url', 'sample', '--mirror', 'm', '-q']
    expect(await sandbox.call(download)).toMatchObject({ code: 0 })
    const month = sandbox.path('m/api/klines/1h/BTCUSDT/2025-02-01.json')
    const sql = `select count(*)::int as n from candles('BTCUSDT', '1h')`
    const hours = sampleRows('BTCUSDT', '1h')
    const query = (...args: string[]) => sandbox.call(['sql', sql, '--mirror', 'm', ...args])
    expect(await query()).toMatchObject({ code: 0, stdout: `[\n{"n":${hours.length}}\n]\n` })
    renameSync(month, sandbox.path('away.json'))
    const missing = await query()
    expect(missing).toMatchObject({ code: 3, stdout: '' })
    expect(missing.stderr).toContain('not in the mirror (BTCUSDT 1h 2025-02-01)')
    expect(missing.stderr).toMatch(/^klines: 1 of \d+ windows are missing or corrupt, so the query was not run:\n/)
    const before = hours.filter(([time]) => Number(time) < Date.UTC(2025, 1)).length
    expect(await query('--to', '2025-02')).toMatchObject({ code: 0, stdout: `[\n{"n":${before}}\n]\n` })
    sandbox.write('m/api/klines/1h/BTCUSDT/2025-02-01.json', '[[1,2]]')
    const corrupt = await query()
    expect(corrupt).toMatchObject({ code: 3, stdout: '' })
    expect(corrupt.stderr).toContain('BTCUSDT 1h 2025-02-01')
  })

  it.each([
    ['from klines', 'klines is the table of all series, which only a lake has.'],
    ["from candles('BTC' || 'USDT', '1d')", 'Over a mirror, candles takes a symbol and an interval as literal texts.'],
    [
      "from candles('btc/usdt', '1d')",
      "candles('btc/usdt', '1d') does not name a series.\n  Did you mean candles('BTCUSDT', '1d')?",
    ],
    ["from candles('*USDT', '1d')", 'Unknown symbol "*USDT"'],
    ["from candles('BTCUSDT', '1s')", 'Unknown interval "1s"'],
  ])('%s is exit code 2', async (sql, message) => {
    const run = await newSandbox().call(['sql', sql, ...MIRROR])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(message)
  })
})

describe.concurrent('a lake that is not whole', () => {
  const part = 'lake/symbol=BTCUSDT/interval=1d/part-0.parquet'

  it('without a part, or with a link in its place, is exit code 3', async () => {
    const sandbox = await withLake()
    renameSync(sandbox.path(part), sandbox.path('away.parquet'))
    const missing = await sandbox.call(['sql', '--lake', 'lake', COUNT])
    expect(missing).toMatchObject({ code: 3, stdout: '' })
    expect(missing.stderr).toContain('symbol=BTCUSDT/interval=1d/part-0.parquet')
    symlinkSync(sandbox.path('away.parquet'), sandbox.path(part))
    expect(await sandbox.call(['sql', '--lake', 'lake', COUNT])).toMatchObject({ code: 3, stdout: '' })
  })

  it('with a link in place of a folder is exit code 3', async () => {
    const sandbox = await withLake()
    renameSync(sandbox.path('lake/symbol=BTCUSDT'), sandbox.path('away'))
    symlinkSync(sandbox.path('away'), sandbox.path('lake/symbol=BTCUSDT'))
    expect(await sandbox.call(['sql', '--lake', 'lake', COUNT])).toMatchObject({ code: 3, stdout: '' })
  })

  it.each([
    ['{', 'is damaged'],
    ['{"schema":99}', 'is of a newer klines'],
  ])('with the manifest %s is exit code 2', async (text, reason) => {
    const sandbox = await withLake()
    sandbox.write('lake/_klines.json', text)
    const run = await sandbox.call(['sql', '--lake', 'lake', COUNT])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(reason)
  })

  it('that is no lake at all is exit code 2, with how to make one', async () => {
    const sandbox = newSandbox()
    mkdirSync(sandbox.path('folder'))
    for (const name of ['folder', 'nowhere']) {
      const run = await sandbox.call(['sql', '--lake', name, COUNT])
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toContain(`klines export all -i all --layout hive -o ${name}`)
    }
  })
})

describe('the temporary folder of a query', () => {
  it('of a killed process is removed by the next query that needs one; that of a running process stays', async () => {
    const sandbox = newSandbox()
    mkdirSync(sandbox.path('temp'))
    const env: Record<string, string> = { TMPDIR: sandbox.path('temp') }
    const endless = `select count(*) from range(1000000000) a, range(1000000000) b, candles('BTCUSDT', '1d') c where a.range + b.range = 7`
    const killed = sandbox.start(['sql', endless, ...MIRROR], env)
    const parts = () => sandbox.files('temp').filter(name => name.endsWith('.parquet'))
    await until(() => parts().length === 1)
    const running = `klines-sql-${hostname().slice(0, 64)}~${process.pid}~0011223344556677`
    mkdirSync(sandbox.path(`temp/${running}`))
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(parts()).toHaveLength(1)
    expect(await sandbox.run(['sql', COUNT, ...MIRROR], env)).toMatchObject({ code: 0, stdout: JSON_COUNT })
    expect(readdirSync(sandbox.path('temp'))).toEqual([running])
  })
})

it('without DuckDB, klines sql says how to install it, exit code 2, and all else works', async () => {
  const sandbox = newSandbox()
  // The program apart from its development dependencies: the others are links.
  for (const name of ['bin', 'dist', 'package.json', 'oclif.manifest.json', 'fixtures']) {
    cpSync(join(PROJECT, name), sandbox.path(`klines/${name}`), { recursive: true })
  }
  const modules = join(PROJECT, 'node_modules')
  mkdirSync(sandbox.path('klines/node_modules'))
  for (const name of readdirSync(modules).filter(name => name !== '@duckdb')) {
    symlinkSync(join(modules, name), sandbox.path(`klines/node_modules/${name}`))
  }
  const klines = sandbox.path('klines/bin/run.js')
  const run = await sandbox.node([klines, 'sql', 'select 1'])
  expect(run).toMatchObject({ code: 2, stdout: '' })
  expect(run.stderr).toBe(
    'klines: klines sql needs DuckDB, the package @duckdb/node-api: it is not installed.\n' +
      '  Install it beside klines: npm install @duckdb/node-api\n' +
      '  If klines is installed globally: npm install -g @duckdb/node-api\n',
  )
  expect(await sandbox.node([klines, 'sql', '--help'])).toMatchObject({ code: 0, stderr: '' })
})

describe.skipIf(!hasScript)('at a terminal (skipped without script of util-linux)', { concurrent: true }, () => {
  it('a result is a table that fits', async () => {
    const sql = `select '${'word '.repeat(30)}' as note, high, low from candles('BTCUSDT', '1d') order by open_time limit 2`
    const sandbox = newSandbox()
    sandbox.write('query.sql', sql)
    const run = await atTerminal(sandbox, `klines sql --mirror ${SAMPLE_TREE} < query.sql`, { columns: 60 })
    const lines = run.stdout.split('\r\n')
    expect(lines[0]).toMatch(/^note +high +low$/)
    expect(lines[1]).toMatch(/^word word .*… {2}/)
    expect(lines[1].endsWith(`${DAYS[0][2]}  ${DAYS[0][3]}`)).toBe(true)
    expect(Math.max(...lines.map(line => line.length))).toBe(60)
    expect(lines.slice(-2)).toEqual(['2 rows', ''])
  })

  it('a long or wide result says what it leaves out', async () => {
    const sandbox = newSandbox()
    sandbox.write('query.sql', "from candles('BTCUSDT', '1h')")
    const run = await atTerminal(sandbox, `klines sql --mirror ${SAMPLE_TREE} < query.sql`)
    const lines = run.stdout.trimEnd().split('\r\n')
    const count = sampleRows('BTCUSDT', '1h').length.toLocaleString('en-US')
    expect(lines.at(-1)).toContain(`20 of ${count} rows; without`)
    expect(lines.at(-1)).toContain('-f csv prints all')
    expect(lines.filter(line => line.startsWith('2025') || line.startsWith('2024'))).toHaveLength(20)
  })
})

describe.skipIf(!hasRealTree)('real candles (skipped without ../shared/data)', () => {
  it('have the expected counts and sums, to the last digit, over a lake and over the mirror', async () => {
    const sandbox = newSandbox()
    const expected = expectedSeries()
    const series = ['export', 'BTCUSDT', 'ADAUSDT', '-i', '1h,1d,1M', '--mirror', realTree(), '--numbers', 'decimal']
    expect(await sandbox.call([...series, '--layout', 'hive', '-o', 'lake', '-q'])).toMatchObject({
      code: 0,
      stderr: '',
    })
    for (const [symbol, interval] of [
      ['BTCUSDT', '1h'],
      ['ADAUSDT', '1d'],
      ['BTCUSDT', '1M'],
    ]) {
      const { rows, trades, volume, quoteVolume, firstOpenTime, lastOpenTime } = expected[symbol][interval]
      const sql = `select count(*)::int, sum(count)::bigint, sum(volume), sum(quote_volume), epoch_ms(min(open_time)),
        epoch_ms(max(open_time)) from candles('${symbol}', '${interval}')`
      for (const source of [
        ['--lake', 'lake'],
        ['--mirror', realTree()],
      ]) {
        const run = await sandbox.call(['sql', sql, '-f', 'csv', ...source])
        expect(run).toMatchObject({ code: 0, stderr: '' })
        const values = [rows, trades, volume, quoteVolume, firstOpenTime, lastOpenTime]
        expect(run.stdout.split('\n')[1], `${symbol} ${interval} ${source}`).toBe(values.join(','))
      }
    }
  })
})
