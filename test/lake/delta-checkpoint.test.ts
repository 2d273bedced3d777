import { cpSync, existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { LakeRequest } from '../../src/index.js'
import {
  digits,
  expectedSums,
  findTablePart,
  logNames,
  type Sums,
  tablePart,
  tableSums,
  withoutIds,
} from '../support/delta.js'
import { fileSnapshot, lakeIn, lakeSetup } from '../support/lake.js'
import { replayLog } from '../support/oracles/delta-replay.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { FULL_WEEKS, PRESENT, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const [WEEK] = FULL_WEEKS
const entry = (version: number) => `${digits(version)}.json`
const checkpoint = (version: number) => `${digits(version)}.checkpoint.parquet`

/** Copies of a table with so many versions, made once, as each takes a while; each has the lake and its mirror. */
const COUNTS = [2, 3, 4, 11, 12, 22]
const copies = mkdtempSync(join(tmpdir(), 'klines-versions-'))
afterAll(() => rmSync(copies, { recursive: true, force: true }))
const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, preserveTimestamps: true })

type Setup = Awaited<ReturnType<typeof lakeSetup>>
const delta = ({ update }: Pick<Setup, 'update'>, hours: number, more: Partial<LakeRequest> = {}) =>
  update({ table: 'delta', numbers: 'decimal', offline: true, now: PRESENT + hours * HOUR, ...more })

let made: Promise<Pick<Setup, 'request'> & { expected: Sums[] }> | undefined
async function makeCopies() {
  const setup = await lakeSetup()
  await delta(setup, 0, { offline: false })
  const expected: Sums[] = [expectedSums()]
  for (let version = 1; version < 22; version++) {
    const rows = weekRows(WEEK, { seed: version })
    putFile(setup.mirror, weekPath('BTCUSDT', WEEK), rows)
    expect((await delta(setup, version)).lake.delta).toEqual({ version, isNew: true, vacuumed: 0 })
    expected.push(expectedSums({ [`BTCUSDT ${WEEK}`]: rows }))
    if (COUNTS.includes(version + 1)) copy(setup.folder, join(copies, `${version + 1}`))
  }
  return { request: setup.request, expected }
}

/** A table whose version `n` was made `n` hours after `PRESENT`, each with another first window of BTCUSDT, and what they must have. */
async function versions(count: number) {
  made ??= makeCopies()
  const { request, expected } = await made
  const folder = tempFolder()
  copy(join(copies, `${count}`), folder)
  const mirror = join(folder, 'mirror')
  const setup = lakeIn(folder, { ...request, mirror })
  const update = (hours: number, more?: Partial<LakeRequest>) => delta(setup, hours, more)
  return { ...setup, mirror, update, expected: expected.slice(0, count) }
}

describe('checkpoints', () => {
  it('every tenth version has one, in the form of the protocol', async () => {
    const { lake, read, expected } = await versions(12)
    expect(logNames(lake).filter(name => !name.endsWith('.json'))).toEqual([checkpoint(10), '_last_checkpoint'])
    const path = join(lake, '_delta_log', checkpoint(10))
    const { rows, types } = await duckdb(`from '${path}'`)
    const unquoted = Object.entries(types).map(([name, type]) => [name, type.replaceAll('"', '')])
    expect(Object.fromEntries(unquoted)).toEqual({
      protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER)',
      metaData:
        'STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), schemaString VARCHAR, partitionColumns VARCHAR[], configuration MAP(VARCHAR, VARCHAR), createdTime BIGINT)',
      add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR)',
      remove:
        'STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN, extendedFileMetadata BOOLEAN, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT)',
    })
    // Protocol, metaData, two parts, and the ten that were replaced.
    expect(rows).toHaveLength(14)
    expect(JSON.parse(read('_delta_log/_last_checkpoint').toString())).toEqual({ version: 10, size: 14 })
    const { rows: adds } = await duckdb(`select add.path as path, add.partitionValues['interval'] as "interval",
      add.dataChange as changed from '${path}' where add is not null order by all`)
    expect(adds).toEqual([
      { path: findTablePart(lake, 'BTCUSDT', 10), interval: '15m', changed: false },
      { path: findTablePart(lake, 'ETHUSDT', 0), interval: '15m', changed: false },
    ])
    expect(await tableSums(lake)).toEqual(expected[11])
  })

  it('replaces the entries before it, for an independent reader and for klines', async () => {
    const { lake, update, expected } = await versions(12)
    const all = await replayLog(lake)
    for (let version = 0; version <= 10; version++) rmSync(join(lake, '_delta_log', entry(version)))
    expect(await replayLog(lake)).toEqual({
      ...all,
      files: all.files.map(file => expect.objectContaining({ path: file.path })),
    })
    expect(await tableSums(lake, 10)).toEqual(expected[10])
    expect((await update(12)).lake).toMatchObject({ written: 0, delta: { version: 11, isNew: false } })
    rmSync(join(lake, '_delta_log', entry(11)))
    // The part of version 11 is one of no version now.
    expect((await update(13)).lake).toMatchObject({ written: 1, unchanged: 1, delta: { version: 11, isNew: true } })
    expect(await tableSums(lake)).toEqual(expected[11])
  })

  it('one that cannot be read is not needed as long as the entries are there, and comes again', async () => {
    const { lake, update, expected } = await versions(11)
    const path = join(lake, '_delta_log', checkpoint(10))
    writeFileSync(path, 'PAR1')
    expect((await update(12)).lake).toMatchObject({ written: 0, delta: { version: 10, isNew: false } })
    expect(await tableSums(lake)).toEqual(expected[10])
  })
})

describe('vacuum', () => {
  it('removes the files of versions that were replaced longer ago, and no other', async () => {
    const { lake, update, expected, files } = await versions(4)
    // The age of a file does not matter, only since when no version has it.
    const old = (PRESENT - 365 * DAY) / 1000
    for (const path of files().filter(name => name.endsWith('.parquet'))) utimesSync(join(lake, path), old, old)
    // Version 1 was replaced at hour 2, version 2 at hour 3.
    const { lake: changes } = await update(26, { vacuum: '1d' })
    expect(changes).toMatchObject({ written: 0, delta: { version: 3, isNew: false, vacuumed: 1 } })
    expect(withoutIds(files().filter(name => name.includes('BTCUSDT')))).toEqual(
      [1, 2, 3].map(version => tablePart('BTCUSDT', version)),
    )
    for (const version of [1, 2, 3]) expect(await tableSums(lake, version)).toEqual(expected[version])
    await expect(tableSums(lake, 0)).rejects.toThrow('is not there')
    expect((await update(1000, { vacuum: '1h' })).lake.delta).toMatchObject({ vacuumed: 2 })
    expect(await tableSums(lake)).toEqual(expected[3])
    const before = fileSnapshot(lake)
    expect((await update(1000, { vacuum: '1h' })).lake.delta).toMatchObject({ vacuumed: 0 })
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it('a dry run lists all files that it would remove, and removes none', async () => {
    const { lake, update, dryRun, files } = await versions(22)
    for (const [hours, vacuum, count] of [
      [15 + 24, '1d', 14 + 10],
      [1000, '1h', 7 + 11],
      [1000, '1h', 0],
    ] as const) {
      const options = { offline: true, now: PRESENT + hours * HOUR, vacuum }
      const before = fileSnapshot(lake)
      const { vacuumed } = await dryRun({ table: 'delta', numbers: 'decimal', ...options })
      expect(vacuumed).toHaveLength(count)
      expect(fileSnapshot(lake)).toEqual(before)
      await update(hours, { vacuum })
      const removed = Object.keys(before).filter(name => !files().includes(name))
      expect(vacuumed.toSorted()).toEqual(removed.map(name => join(lake, name)).toSorted())
    }
  })

  it('keeps what the run itself replaces', async () => {
    const { lake, update, expected, mirror } = await versions(2)
    putFile(mirror, weekPath('BTCUSDT', WEEK), weekRows(WEEK, { seed: 9 }))
    expect((await update(1000, { vacuum: '1h' })).lake.delta).toEqual({ version: 2, isNew: true, vacuumed: 1 })
    expect(await tableSums(lake, 1)).toEqual(expected[1])
  })

  it('removes the entries that a checkpoint of that age replaces, and every version since stays readable', async () => {
    const { lake, update, expected } = await versions(22)
    expect((await update(15 + 24, { vacuum: '1d' })).lake.delta).toMatchObject({ vacuumed: 14 })
    const kept = Array.from({ length: 12 }, (_, index) => 10 + index)
    expect(logNames(lake)).toEqual([...kept.map(entry), checkpoint(10), checkpoint(20), '_last_checkpoint'].sort())
    for (const version of [15, 19, 20, 21])
      expect(await tableSums(lake, version), `${version}`).toEqual(expected[version])
    await update(1000, { vacuum: '1h' })
    expect(logNames(lake)).toEqual([entry(20), entry(21), checkpoint(20), '_last_checkpoint'].sort())
    expect(await tableSums(lake)).toEqual(expected[21])
    expect((await update(1001)).lake).toMatchObject({ written: 0, unchanged: 2 })
  })

  it('keeps the entries before a checkpoint that cannot be read', async () => {
    const { lake, update, expected } = await versions(22)
    writeFileSync(join(lake, '_delta_log', checkpoint(10)), 'PAR1')
    await update(15 + 24, { vacuum: '1d' })
    for (const name of [checkpoint(10), checkpoint(20)]) rmSync(join(lake, '_delta_log', name))
    for (const version of [15, 19, 21]) expect(await tableSums(lake, version), `${version}`).toEqual(expected[version])
  })

  it('knows the age of removed files from a checkpoint too', async () => {
    const { lake, update } = await versions(12)
    for (let version = 0; version <= 10; version++) rmSync(join(lake, '_delta_log', entry(version)))
    const old = (PRESENT - 365 * DAY) / 1000
    for (let version = 0; version < 11; version++)
      utimesSync(join(lake, findTablePart(lake, 'BTCUSDT', version)), old, old)
    expect((await update(5 + 24, { vacuum: '1d' })).lake.delta).toMatchObject({ vacuumed: 4 })
    expect(existsSync(join(lake, findTablePart(lake, 'BTCUSDT', 4)))).toBe(true)
  })

  it('removes parts of no version when they are as old, and leaves other files alone', async () => {
    const { lake, update, write } = await versions(3)
    const [orphan, mine] = [
      `symbol=ETHUSDT/interval=15m/part-${digits(1)}.parquet`,
      'symbol=ETHUSDT/interval=15m/mine.parquet',
    ]
    for (const path of [orphan, mine]) {
      write(path, 'x')
      utimesSync(join(lake, path), PRESENT / 1000, PRESENT / 1000)
    }
    expect((await update(2, { vacuum: '3h' })).lake.delta).toMatchObject({ vacuumed: 0 })
    expect((await update(27, { vacuum: '1d' })).lake.delta).toMatchObject({ vacuumed: 3 })
    expect([orphan, mine].map(path => existsSync(join(lake, path)))).toEqual([false, true])
  })
})
