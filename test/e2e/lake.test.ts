import { readFileSync } from 'node:fs'
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
    const object = await sandbox.call([...one, '--prune', '--dry-run', '--json'])
    expect(parseObject(object.stdout, DryRunSchema)).toMatchObject({ files: [], removed: [`lake/${ETH}`] })
    expect(sandbox.files('lake')).toEqual(FILES)
    const pruned = await sandbox.call([...one, '--prune'])
    expect(pruned.stdout).toMatch(/^Lake lake\/: 0 parts written, 1 unchanged, 1 removed\.$/m)
    expect(sandbox.files('lake')).toEqual([...ROOT_FILES, BTC])
  })

  it.each<[string[], string]>([
    [['-o', '-'], 'A lake is a folder; it cannot go to stdout.'],
    [['-o', 'lake', '-f', 'csv'], '--layout writes Parquet files. Expected -f parquet or no -f, not csv.'],
    [['-o', 'full'], 'full is not empty. Expected a lake'],
    [[], '--layout writes files into a folder, and none is named.'],
  ])('refuses %j', async (args, message) => {
    const { sandbox } = await stockedSandbox(newSandbox(), ['BTCUSDT'])
    await sandbox.shell('mkdir full && touch full/mine')
    const run = await sandbox.call(['export', 'BTCUSDT', '-i', '15m', '--mirror', 'm', '--layout', 'hive', ...args])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(message)
    expect(sandbox.exists('lake')).toBe(false)
  })

  it.each(["[it's] ☃*"])('a lake in the folder %j is read by _views.sql', async name => {
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
