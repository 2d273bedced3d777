import { readFileSync, writeFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DryRunSchema, RunSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, startTreeServer, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { deferred } from '../support/deferred.js'
import { fileSnapshot, onlyPart } from '../support/lake.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { OPEN_WEEK, putFile, RENDERED, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const ROOT_FILES = ['_README.md', '_klines.json', '_views.sql']
const BTC = onlyPart('BTCUSDT')
const ETH = onlyPart('ETHUSDT')
const FILES = [...ROOT_FILES, BTC, ETH]
const LAYOUT = ['--layout', 'hive', '-o', 'lake/']
const EXPORT = ['export', 'BTCUSDT', 'ETHUSDT', '-i', '15m', '--mirror', 'm', ...LAYOUT]

async function countRows(sandbox: CliSandbox): Promise<unknown> {
  return (await duckdb(`select count(*)::int as n from '${sandbox.path('lake')}/*/*/*.parquet'`)).rows[0].n
}

describe('--layout hive', () => {
  it('download and export build the same lake, and a refresh after one new window writes one part', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const download = ['download', 'BTCUSDT', 'ETHUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm']
    const first = await sandbox.call([...download, ...LAYOUT])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/^Lake lake\/: 2 parts written, 0 unchanged\.$/m)
    expect(sandbox.files('lake')).toEqual(FILES)
    expect(await countRows(sandbox)).toBe(84)

    const second = await sandbox.call(['export', 'all', '-i', 'all', '--mirror', 'm', ...LAYOUT, '--json'])
    const object = parseObject(second.stdout, RunSchema)
    expect(object.files).toEqual([])
    expect(object.lake).toEqual({ folder: 'lake/', written: 0, unchanged: 2, removed: [], notRequested: [] })

    putFile(server.root, weekPath('ETHUSDT', OPEN_WEEK), weekRows(OPEN_WEEK, { seed: 1 }), RENDERED + 86_400_000)
    const before = fileSnapshot(sandbox.path('lake'))
    const third = await sandbox.call([...download, ...LAYOUT])
    expect(third).toMatchObject({ code: 0, stderr: '' })
    expect(third.stdout).toMatch(/^Lake lake\/: 1 part written, 1 unchanged\.$/m)
    expect(fileSnapshot(sandbox.path('lake'))[BTC]).toEqual(before[BTC])
    expect(await countRows(sandbox)).toBe(90)
  })

  it('names series that are not requested, shows what a dry run would write, and removes them with --prune', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    const dry = await sandbox.call([...EXPORT, '--dry-run'])
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(dry.stdout).toContain(`Files that would be written: lake/${BTC}, lake/${ETH}`)
    expect(sandbox.exists('lake')).toBe(false)
    expect(await sandbox.call(EXPORT)).toMatchObject({ code: 0, stderr: '' })
    expect((await sandbox.call([...EXPORT, '--dry-run'])).stdout).not.toContain('Files that would be written')
    const one = ['export', 'BTCUSDT', ...EXPORT.slice(3)]
    const named = await sandbox.call(one)
    expect(named.stdout).toMatch(/^Also in the lake, and not requested: ETHUSDT 15m; --prune removes them\.$/m)
    expect(sandbox.files('lake')).toEqual(FILES)
    for (const [args, removed] of [
      [one, []],
      [[...one, '--prune'], [`lake/${ETH}`]],
    ] as const) {
      const object = await sandbox.call([...args, '--dry-run', '--json'])
      expect(parseObject(object.stdout, DryRunSchema)).toMatchObject({ files: [], removed })
      const text = await sandbox.call([...args, '--dry-run'])
      expect(text.stdout.includes(`\nParts that would be removed: lake/${ETH}\n`)).toBe(removed.length > 0)
      expect(sandbox.files('lake')).toEqual(FILES)
    }
    const pruned = await sandbox.call([...one, '--prune'])
    expect(pruned.stdout).toMatch(/^Lake lake\/: 0 parts written, 1 unchanged, 1 removed\.$/m)
    expect(sandbox.files('lake')).toEqual([...ROOT_FILES, BTC])
  })

  it.each<[string[], string]>([
    [['-o', '-'], 'A lake is a folder; it cannot go to stdout.'],
    [['-o', '{symbol}'], '{symbol} has the placeholder {symbol}'],
    [['-o', 'lake', '-f', 'csv'], '--layout writes Parquet files. Expected -f parquet or no -f, not csv.'],
    [['-o', 'full'], 'full is not empty. Expected a lake'],
    [['-o', 'file'], 'file is a file. Expected a lake'],
    [['-o', 'lake', '--time-format', 'iso'], '--time-format iso'],
    [['-o', 'lake', '--theme', 'dark'], '--theme'],
    [[], '--layout writes files into a folder, and none is named.'],
  ])('refuses %j', async (args, message) => {
    const { sandbox } = await stockedSandbox(newSandbox(), ['BTCUSDT'])
    await sandbox.shell('mkdir full && touch full/mine')
    sandbox.write('file', 'x')
    const run = await sandbox.call(['export', 'BTCUSDT', '-i', '15m', '--mirror', 'm', '--layout', 'hive', ...args])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(message)
    expect(sandbox.exists('lake')).toBe(false)
  })

  it.each(['--partition=year', '--prune'])('refuses %s without --layout', async flag => {
    const run = await newSandbox().call(['export', 'BTCUSDT', '-i', '15m', '-o', 'x.parquet', flag])
    expect(run).toMatchObject({ code: 2 })
    expect(run.stderr).toContain(`${flag.split('=')[0]} applies to --layout, which is missing.`)
  })

  it('with other options is written again', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    await sandbox.call(EXPORT)
    expect(await sandbox.call([...EXPORT, '--numbers', 'decimal'])).toMatchObject({ code: 0, stderr: '' })
    const { types } = await duckdb(`select * from '${sandbox.path('lake')}/${BTC}'`)
    expect(types.open).toBe('DECIMAL(38,8)')
  })

  it('a missing or corrupt window is exit 3, and no part is written', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    await sandbox.call(EXPORT)
    const before = fileSnapshot(sandbox.path('lake'))
    writeFileSync(sandbox.path(`m/${weekPath('ETHUSDT', OPEN_WEEK)}`), '[[')
    putFile(sandbox.path('m'), weekPath('BTCUSDT', OPEN_WEEK), weekRows(OPEN_WEEK))
    const run = await sandbox.call(EXPORT)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain('ETHUSDT 15m 2025-02-10')
    expect(fileSnapshot(sandbox.path('lake'))).toEqual(before)
  })

  it.each(['[x] *', "it's ?", 'ütf ☃', "[it's] ☃*"])('a lake in the folder %j is read by _views.sql', async name => {
    const { sandbox } = await stockedSandbox(newSandbox(), ['BTCUSDT'])
    const run = await sandbox.call([...EXPORT.slice(0, 2), ...EXPORT.slice(3, -1), name])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    // A sibling that a glob would match too.
    putFile(sandbox.path('x anything'), BTC, 'no Parquet')
    const views = readFileSync(sandbox.path(`${name}/_views.sql`), 'utf8')
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    onTestFinished(() => connection.closeSync())
    await connection.run(views)
    const read = await connection.runAndReadAll(`select count(*)::int as n from candles('BTCUSDT', '15m')`)
    expect(read.getRows()).toEqual([[42]])
  })

  it('interrupted, it says so, and leaves the lake as it was, without a lock', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', ...LAYOUT]
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    const before = fileSnapshot(sandbox.path('lake'))
    const [reached, ended] = [deferred(), deferred()]
    server.hold = () => {
      reached.resolve()
      return ended.promise
    }
    const running = sandbox.start(args)
    await reached.promise
    expect(sandbox.exists('lake/_klines.lock')).toBe(true)
    running.child.kill('SIGINT')
    const run = await running.ended
    ended.resolve()
    expect(run).toMatchObject({ code: 130, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Interrupted/m)
    expect(fileSnapshot(sandbox.path('lake'))).toEqual(before)
    expect(sandbox.files('lake')).toEqual([...ROOT_FILES, BTC])
  })

  it('of two writers at once one is refused', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    // The first one waits for the service until the second one has ended.
    const [reached, ended] = [deferred(), deferred()]
    server.hold = () => {
      reached.resolve()
      return ended.promise
    }
    const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '--layout', 'hive']
    const running = sandbox.start([...args, '-o', 'lake'])
    await reached.promise
    const refused = await sandbox.call([...args, '-o', 'lake'])
    ended.resolve()
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(refused.stderr).toContain(
      'klines: Another run is writing lake.\n  Run the same command again when it has ended.\n',
    )
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('lake')).toEqual([...ROOT_FILES, BTC])
  })
})

it('a lake with a Delta log is refused before anything is written, and not read', async () => {
  const { sandbox } = await stockedSandbox(newSandbox())
  await sandbox.call(EXPORT)
  putFile(sandbox.path('lake'), '_delta_log/00000000000000000000.json', '{}')
  const before = fileSnapshot(sandbox.path('lake'))
  const refusal = /^klines: (\.\/)?lake\/? .*has a _delta_log, and klines (keeps|reads) no Delta tables any more/
  for (const more of [[], ['--dry-run'], ['--force'], ['--prune']]) {
    const run = await sandbox.call([...EXPORT, ...more])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(refusal)
  }
  for (const args of [
    ['fingerprint', './lake'],
    ['diff', 'lake', 'm'],
  ]) {
    const run = await sandbox.call(args)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(refusal)
  }
  expect(fileSnapshot(sandbox.path('lake'))).toEqual(before)
})

describe('the name of a file of another format', () => {
  it.each(['x.csv', 'sub/x.json.gz'])('is refused as the folder of a lake: %s', async name => {
    const { sandbox } = await stockedSandbox(newSandbox())
    for (const more of [[], ['--dry-run']]) {
      const run = await sandbox.call([...EXPORT.slice(0, -1), name, ...more])
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toMatch(
        new RegExp(`^klines: ${name} is the name of a \\w+ file, and a lake is a folder of Parquet files\\.\\n  Name `),
      )
      expect(sandbox.exists(name)).toBe(false)
    }
  })

  it('is taken with a slash at its end, or as the name of a folder that is there', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    expect(await sandbox.call([...EXPORT.slice(0, -1), 'x.csv/'])).toMatchObject({ code: 0, stderr: '' })
    expect(await sandbox.call([...EXPORT.slice(0, -1), 'x.csv'])).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('x.csv')).toEqual([...ROOT_FILES, BTC, ETH])
    expect(await sandbox.call([...EXPORT.slice(0, -1), 'x.parquet'])).toMatchObject({ code: 0, stderr: '' })
  })
})
