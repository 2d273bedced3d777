import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLog } from '../../src/lake/delta/log.js'
import type { LakeRequest } from '../../src/lake/update.js'
import { finishTable } from '../../src/lake/finish.js'
import { openFolder } from '../../src/lake/folder.js'
import { RootFiles } from '../../src/lake/root/files.js'
import { deferred } from '../support/deferred.js'
import { expectedSums, findTablePart, logNames, tablePart, tableSums, withoutIds } from '../support/delta.js'
import { catchError } from '../support/errors.js'
import { fileSnapshot, lakeSetup } from '../support/lake.js'
import { FULL_WEEKS, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'

const [WEEK] = FULL_WEEKS
const OTHER_LOCK = `${JSON.stringify({ host: 'web-1', pid: 7, id: 'another id' })}\n0000000000\n`

/** A lake, and a second run of it that waits for the service with the lock; a change that both runs see. */
async function heldSetup(options: Partial<LakeRequest>) {
  const setup = await lakeSetup()
  const { lake, update, server, mirror } = setup
  await update(options)
  const rows = weekRows(WEEK, { seed: 7 })
  for (const symbol of ['BTCUSDT', 'ETHUSDT'] as const) putFile(mirror, weekPath(symbol, WEEK), rows)
  const [reached, ended] = [deferred(), deferred()]
  server.hold = () => {
    reached.resolve()
    return ended.promise
  }
  const running = catchError(update(options))
  await reached.promise
  /** Lets the first run go on; returns its error. */
  const finish = () => {
    ended.resolve()
    return running
  }
  /** Puts another lock into the place of that of the first run. */
  const replaceLock = (text: string) => {
    writeFileSync(join(lake, 'new'), text)
    renameSync(join(lake, 'new'), join(lake, '_lock'))
  }
  const changed = expectedSums({ [`BTCUSDT ${WEEK}`]: rows, [`ETHUSDT ${WEEK}`]: rows })
  return {
    ...setup,
    update: (more: Partial<LakeRequest> = {}) => update({ ...options, ...more }),
    finish,
    replaceLock,
    changed,
  }
}

const KINDS: [string, Partial<LakeRequest>][] = [
  ['plain files', {}],
  ['a table', { table: 'delta', numbers: 'decimal' }],
]

describe.each(KINDS)('a run that slept and lost its lock: %s', (_, options) => {
  it('places and removes nothing', async () => {
    const { lake, finish, replaceLock } = await heldSetup(options)
    replaceLock(OTHER_LOCK)
    const before = fileSnapshot(lake)
    expect(await finish()).toMatchObject({
      code: 'lake_busy',
      message: expect.stringContaining('process 7 of web-1 now'),
      suggestions: ['Run the same command again.'],
    })
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it('leaves all that another run has written meanwhile', async () => {
    const { lake, finish, update } = await heldSetup(options)
    rmSync(join(lake, '_lock'))
    expect((await update({ offline: true })).lake).toMatchObject({ written: 2 })
    const before = fileSnapshot(lake)
    expect(await finish()).toMatchObject({ code: 'lake_busy', message: expect.stringContaining('_lock is gone') })
    expect(fileSnapshot(lake)).toEqual(before)
    expect((await update({ offline: true })).lake).toMatchObject({ written: 0, unchanged: 2 })
  })
})

describe('two runs that write one version of a table, both with a lock that seems to be their own', () => {
  it('make parts with different names: one makes the version, the other one removes its own parts and no others', async () => {
    const { lake, finish, update, replaceLock, changed, read, files, mirror } = await heldSetup(KINDS[1][1])
    const lock = read('_lock').toString()
    rmSync(join(lake, '_lock'))
    expect((await update({ offline: true })).lake).toMatchObject({ written: 2, delta: { version: 1 } })
    const before = files()
    replaceLock(lock)
    // The parts of the first run have the names of its version too, and other candles.
    for (const symbol of ['BTCUSDT', 'ETHUSDT']) putFile(mirror, weekPath(symbol, WEEK), weekRows(WEEK, { seed: 8 }))
    expect(await finish()).toMatchObject({
      code: 'lake_busy',
      message: `Another program has made version 1 of ${lake} meanwhile.`,
    })
    expect(files()).toEqual(before)
    expect(logNames(lake)).toHaveLength(2)
    expect(await tableSums(lake)).toEqual(changed)
    expect(await tableSums(lake, 0)).toEqual(expectedSums())
  })
})

describe('what a run removes at its end', () => {
  const options = { table: 'delta', numbers: 'decimal' } as const

  /** A table, and what finishes a run of it with the log that it read at its start. */
  async function finishSetup() {
    const setup = await lakeSetup()
    const { lake, update, mirror } = setup
    await update(options)
    const folder = await openFolder(lake)
    const log = folder.log
    if (log === undefined || folder.manifest === undefined) throw new Error('no log')
    const { source, options: lakeOptions, series } = folder.manifest
    const rootFiles = new RootFiles(lake, { source, options: lakeOptions }, folder.manifest, () => {})
    const change = (seed: number) => putFile(mirror, weekPath('BTCUSDT', WEEK), weekRows(WEEK, { seed }))
    return { ...setup, folder, log, rootFiles, change, finished: { series, gone: [] } }
  }

  it('are not the parts of a version that another run has made since', async () => {
    const { lake, update, folder, log, rootFiles, change, finished } = await finishSetup()
    change(7)
    await update({ ...options, offline: true })
    const sums = await tableSums(lake)
    // All parts are in the folder as this run knows it, and the log of its start lacks the new one.
    const known = { ...folder, log: undefined, files: (await openFolder(lake)).files }
    await finishTable(known, log, finished, rootFiles, { unusedSince: undefined, checkLock: () => {} })
    expect(await tableSums(lake)).toEqual(sums)
    expect(await tableSums(lake, 0)).toEqual(expectedSums())
  })

  it('are not parts of a version that a run which sleeps can still make', async () => {
    const { lake, update, change, files } = await finishSetup()
    const part = findTablePart(lake, 'BTCUSDT', 0)
    const asleep = part.replace(/part-\d{20}/, `part-${'0'.repeat(19)}1`)
    writeFileSync(join(lake, asleep), readFileSync(join(lake, part)))
    await update({ ...options, offline: true })
    expect(files()).toContain(asleep)
    // This run makes that version.
    change(7)
    expect((await update({ ...options, offline: true })).lake.delta).toMatchObject({ version: 1, isNew: true })
    expect(files()).not.toContain(asleep)
    expect(withoutIds(files().filter(name => name.endsWith('.parquet')))).toEqual([
      tablePart('BTCUSDT', 0),
      tablePart('BTCUSDT', 1),
      tablePart('ETHUSDT', 0),
    ])
    expect((await readLog(lake))?.version).toBe(1)
  })
})

it('_views.sql says in its first line how it is used, also after a move', async () => {
  const { update, read } = await lakeSetup()
  await update()
  const [first, , comment, statement] = read('_views.sql').toString().split('\n')
  expect(first).toBe(
    '-- For DuckDB: duckdb -init _views.sql. After the lake was moved, write its new path into the first statement, or run klines with the new folder.',
  )
  expect(comment).toMatch(/^-- /)
  expect(statement).toMatch(/^set variable klines_lake = /)
})

it('temp files of a writer in another container or machine go with the next run', async () => {
  const { update, files, lake } = await lakeSetup()
  await update({ table: 'delta' })
  const before = files()
  const [part] = before.filter(name => name.endsWith('.parquet'))
  const folder = part.slice(0, part.lastIndexOf('/'))
  const temps = [
    `${folder}/.${part.slice(folder.length + 1).slice(0, 50)}.web-1~7~0011223344556677.tmp`,
    `${folder}/.part-0.parquet.web-1~${process.pid}~0011223344556677.tmp`,
    `_delta_log/.${'0'.repeat(20)}.json.web-1~7~0011223344556677.tmp`,
  ]
  const mine = `${folder}/.part-0.parquet.tmp`
  for (const name of [...temps, mine]) writeFileSync(join(lake, name), 'x')
  await update({ table: 'delta' })
  expect(files()).toEqual([...before, mine].sort())
})
