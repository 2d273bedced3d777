import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { LakeRequest } from '../../src/index.js'
import { digits, expectedSums, findTablePart, logNames, tablePart, tableSums, withoutIds } from '../support/delta.js'
import { catchError } from '../support/errors.js'
import { onWindow } from '../support/events.js'
import { fileSnapshot, lakeSetup, onlyPart } from '../support/lake.js'
import { replayLog } from '../support/oracles/delta-replay.js'
import { FULL_WEEKS, OPEN_WEEK, PRESENT, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'

const ROOT_FILES = ['_README.md', '_klines.json', '_views.sql']
const DELTA = { table: 'delta', numbers: 'decimal' } as const
const [WEEK] = FULL_WEEKS

/** A Delta table with version 0. */
async function tableSetup(options: Partial<LakeRequest> = {}) {
  const setup = await lakeSetup()
  const update = (more: Partial<LakeRequest> = {}) => setup.update({ ...DELTA, ...options, offline: true, ...more })
  /** Changes the first full window of a series; returns what the table must have then. */
  const change = (symbol: string, seed: number) => {
    const rows = weekRows(WEEK, { seed })
    putFile(setup.mirror, weekPath(symbol, WEEK), rows)
    return { [`${symbol} ${WEEK}`]: rows }
  }
  const first = await update({ offline: false })
  return { ...setup, update, change, first }
}

function readEntry(lake: string, version: number) {
  const lines = readFileSync(join(lake, `_delta_log/${digits(version)}.json`), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map(line => JSON.parse(line))
}

describe('versions', () => {
  it('the first one has the protocol, the columns and each part with its exact facts', async () => {
    const { lake, files, first, read } = await tableSetup()
    expect(first.lake).toEqual({
      folder: lake,
      written: 2,
      unchanged: 0,
      removed: [],
      notRequested: [],
      delta: { version: 0, isNew: true, vacuumed: 0 },
    })
    const parts = ['BTCUSDT', 'ETHUSDT'].map(symbol => findTablePart(lake, symbol, 0))
    expect(files()).toEqual([`_delta_log/${digits(0)}.json`, ...ROOT_FILES, ...parts].sort())
    const [info, protocol, { metaData }, ...adds] = readEntry(lake, 0)
    expect(info.commitInfo).toMatchObject({ timestamp: PRESENT, operation: 'WRITE' })
    expect(protocol).toEqual({ protocol: { minReaderVersion: 1, minWriterVersion: 2 } })
    expect(metaData).toMatchObject({
      format: { provider: 'parquet', options: {} },
      partitionColumns: ['symbol', 'interval'],
    })
    const { type, fields } = JSON.parse(metaData.schemaString)
    expect(type).toBe('struct')
    expect(
      Object.fromEntries(fields.map((field: { name: string; type: string }) => [field.name, field.type])),
    ).toMatchObject({
      open_time: 'timestamp',
      open: 'decimal(38,8)',
      close_time: 'timestamp',
      count: 'long',
      symbol: 'string',
      interval: 'string',
    })
    expect(adds.map(({ add }) => add)).toMatchObject(
      parts.map(path => ({ path, size: read(path).length, dataChange: true, modificationTime: expect.any(Number) })),
    )
    expect(adds[0].add.partitionValues).toEqual({ symbol: 'BTCUSDT', interval: '15m' })
    expect(JSON.parse(adds[0].add.stats)).toMatchObject({
      numRecords: 42,
      minValues: { open_time: '2025-01-06T00:00:00.000Z' },
      maxValues: { open_time: '2025-02-11T00:00:00.000Z' },
      nullCount: { open_time: 0, ignore: 0 },
    })
    expect(await tableSums(lake)).toEqual(expectedSums())
  })

  it('a run without changes makes none and writes nothing', async () => {
    const { lake, update } = await tableSetup()
    const before = fileSnapshot(lake)
    const { lake: changes, files } = await update()
    expect(changes).toMatchObject({ written: 0, unchanged: 2, delta: { version: 0, isNew: false } })
    expect(files).toEqual([])
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it('one changed window adds one part of that series, and both versions stay readable', async () => {
    const { lake, update, change, files } = await tableSetup()
    const before = fileSnapshot(lake)
    const changed = change('BTCUSDT', 7)
    expect((await update()).lake).toMatchObject({
      written: 1,
      unchanged: 1,
      removed: [],
      delta: { version: 1, isNew: true },
    })
    const [, { remove }, { add }, ...rest] = readEntry(lake, 1)
    expect(rest).toEqual([])
    expect(remove).toMatchObject({
      path: findTablePart(lake, 'BTCUSDT', 0),
      deletionTimestamp: PRESENT,
      dataChange: true,
    })
    expect(remove.size).toBe(readFileSync(join(lake, remove.path)).length)
    expect(add.path).toBe(findTablePart(lake, 'BTCUSDT', 1))
    const other = findTablePart(lake, 'ETHUSDT', 0)
    expect(fileSnapshot(lake)[other]).toEqual(before[other])
    expect(files().filter(name => name.endsWith('.parquet'))).toHaveLength(3)
    expect(await tableSums(lake)).toEqual(expectedSums(changed))
    expect(await tableSums(lake, 0)).toEqual(expectedSums())
  })

  it('many changes of one run are one version', async () => {
    const { lake, update, change } = await tableSetup()
    const changed = { ...change('BTCUSDT', 7), ...change('ETHUSDT', 8) }
    expect((await update()).lake).toMatchObject({ written: 2, delta: { version: 1 } })
    expect(logNames(lake)).toEqual([`${digits(0)}.json`, `${digits(1)}.json`])
    expect(await tableSums(lake)).toEqual(expectedSums(changed))
  })

  it('a series that is not requested stays; prune removes it from the next version, not from the disk', async () => {
    const { lake, update, files } = await tableSetup()
    const one = { symbols: ['BTCUSDT'] as ['BTCUSDT'] }
    expect((await update(one)).lake).toMatchObject({
      notRequested: ['ETHUSDT 15m'],
      delta: { version: 0, isNew: false },
    })
    const pruned = await update({ ...one, prune: true })
    expect(pruned.lake).toMatchObject({
      written: 0,
      removed: [findTablePart(lake, 'ETHUSDT', 0)],
      delta: { version: 1 },
    })
    expect(await tableSums(lake)).toEqual({ BTCUSDT: expectedSums().BTCUSDT })
    expect(await tableSums(lake, 0)).toEqual(expectedSums())
    expect(withoutIds(files())).toContain(tablePart('ETHUSDT', 0))
  })

  it('by month: the values of partitions are numbers, and a change adds the parts of its month alone', async () => {
    const { lake, update, change } = await tableSetup({ partition: 'month' })
    const { files, metaData } = await replayLog(lake)
    expect(metaData.partitionColumns).toEqual(['symbol', 'interval', 'year', 'month'])
    expect(files[0]).toMatchObject({
      path: expect.stringMatching(
        /^symbol=BTCUSDT\/interval=15m\/year=2025\/month=01\/part-0{20}-[0-9a-f-]{36}\.parquet$/,
      ),
      partitionValues: { symbol: 'BTCUSDT', interval: '15m', year: '2025', month: '1' },
    })
    const changed = change('ETHUSDT', 9)
    expect((await update()).lake).toMatchObject({ written: 1, unchanged: 3 })
    expect(await tableSums(lake)).toEqual(expectedSums(changed))
  })

  it('other options with force are a version with another schema', async () => {
    const { lake, update } = await tableSetup()
    expect(await catchError(update({ columns: ['open_time', 'open'] }))).toMatchObject({ code: 'bad_output' })
    const { metaData: old } = await replayLog(lake)
    expect((await update({ columns: ['open_time', 'open'], force: true })).lake).toMatchObject({
      written: 2,
      delta: { version: 1 },
    })
    const { metaData } = await replayLog(lake)
    expect(metaData.id).toBe(old.id)
    expect(JSON.parse(metaData.schemaString).fields.map(({ name }: { name: string }) => name)).toEqual([
      'open_time',
      'open',
      'symbol',
      'interval',
    ])
    expect((await replayLog(lake, 0)).metaData).toEqual(old)
    expect(await tableSums(lake)).toEqual(expectedSums())
  })
})

describe('the log is the truth', () => {
  it.each<[string, (lake: string) => void]>([
    ['is gone', lake => rmSync(join(lake, '_klines.json'))],
    ['is damaged', lake => writeFileSync(join(lake, '_klines.json'), '{')],
  ])('a run after the manifest %s makes no version and writes the manifest', async (_, damage) => {
    const { lake, update, files } = await tableSetup()
    damage(lake)
    expect((await update()).lake).toMatchObject({ written: 0, unchanged: 2, delta: { version: 0, isNew: false } })
    expect(files()).toContain('_klines.json')
    expect((await update()).lake).toMatchObject({ written: 0, unchanged: 2 })
    expect(logNames(lake)).toHaveLength(1)
  })

  it('a manifest of an older version is noticed, and the next change is the next version', async () => {
    const { lake, update, change, read, write } = await tableSetup()
    const old = read('_klines.json')
    const changed = change('BTCUSDT', 7)
    await update()
    write('_klines.json', old)
    expect((await update()).lake).toMatchObject({ written: 0, delta: { version: 1, isNew: false } })
    const both = { ...changed, ...change('ETHUSDT', 5) }
    expect((await update()).lake).toMatchObject({ written: 1, delta: { version: 2 } })
    expect(await tableSums(lake)).toEqual(expectedSums(both))
  })

  it('a run after the log is gone starts a new one, and leaves no part of the old one', async () => {
    const { lake, update, change, files } = await tableSetup()
    const changed = change('BTCUSDT', 7)
    await update()
    rmSync(join(lake, '_delta_log'), { recursive: true })
    expect((await update()).lake).toMatchObject({ written: 2, delta: { version: 0, isNew: true } })
    expect(await tableSums(lake)).toEqual(expectedSums(changed))
    expect(withoutIds(files().filter(name => name.endsWith('.parquet')))).toEqual(
      ['BTCUSDT', 'ETHUSDT'].map(symbol => tablePart(symbol, 0)),
    )
  })

  it('a dry run after the log is gone names all series, as a run would write them', async () => {
    const { lake, update, dryRun } = await tableSetup()
    const request = { ...DELTA, offline: true }
    expect((await dryRun(request)).files).toEqual([])
    rmSync(join(lake, '_delta_log'), { recursive: true })
    expect((await dryRun(request)).files).toEqual(
      ['BTCUSDT', 'ETHUSDT'].map(symbol => join(lake, `symbol=${symbol}/interval=15m`)),
    )
    expect((await update()).lake).toMatchObject({ written: 2, unchanged: 0 })
  })

  it('a run after the log is gone does not leave out series that it does not write: it asks for them or for prune', async () => {
    const { lake, update, files } = await tableSetup()
    rmSync(join(lake, '_delta_log'), { recursive: true })
    const before = fileSnapshot(lake)
    const error = await catchError(update({ symbols: ['BTCUSDT'] }))
    expect(error).toMatchObject({ code: 'bad_output', message: expect.stringContaining('also has ETHUSDT 15m') })
    expect(fileSnapshot(lake)).toEqual(before)
    const removed = [findTablePart(lake, 'ETHUSDT', 0)]
    const { lake: changes } = await update({ symbols: ['BTCUSDT'], prune: true })
    expect(changes).toMatchObject({ removed, delta: { version: 0, isNew: true } })
    expect(files().filter(name => name.endsWith('.parquet'))).toEqual([findTablePart(lake, 'BTCUSDT', 0)])
  })

  it.each<[string, (lake: string) => void, string]>([
    ['is torn', lake => writeFileSync(join(lake, `_delta_log/${digits(0)}.json`), '{"add":'), 'JSON'],
    ['lacks a version', lake => rmSync(join(lake, `_delta_log/${digits(0)}.json`)), 'version 0 is missing'],
    [
      'needs another protocol',
      lake =>
        writeFileSync(
          join(lake, `_delta_log/${digits(2)}.json`),
          '{"protocol":{"minReaderVersion":3,"minWriterVersion":7}}',
        ),
      'protocol 3/7, which another program wrote',
    ],
    [
      'has a file of another program',
      lake =>
        writeFileSync(join(lake, `_delta_log/${digits(2)}.json`), '{"add":{"path":"part-00000-c000.snappy.parquet"}}'),
      'part-00000-c000.snappy.parquet, which another program wrote',
    ],
  ])('a log that %s is refused, and nothing changes', async (_, damage, message) => {
    const { lake, update, change } = await tableSetup()
    change('BTCUSDT', 7)
    await update()
    damage(lake)
    const before = fileSnapshot(lake)
    const error = await catchError(update())
    expect(error).toMatchObject({ code: 'bad_output', message: expect.stringContaining(message) })
    expect((error as Error).message).toContain(join(lake, '_delta_log'))
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it('a version that another program made meanwhile is not replaced', async () => {
    const { lake, update, change, files } = await tableSetup()
    change('BTCUSDT', 7)
    const entry = join(lake, `_delta_log/${digits(1)}.json`)
    const before = files()
    const error = await catchError(
      // After the log was read, and before the version is made.
      update({ onEvent: onWindow(() => writeFileSync(entry, '{"commitInfo":{}}\n')) }),
    )
    expect(error).toMatchObject({
      code: 'lake_busy',
      message: `Another program has made version 1 of ${lake} meanwhile.`,
    })
    expect(readFileSync(entry, 'utf8')).toBe('{"commitInfo":{}}\n')
    expect(files()).toEqual([...before, `_delta_log/${digits(1)}.json`].sort())
    expect((await update()).lake).toMatchObject({ written: 1, delta: { version: 2 } })
  })
})

describe('two kinds of lake', () => {
  it('plain files are not turned into a table without force', async () => {
    const { update, lake } = await lakeSetup()
    await update({ numbers: 'decimal' })
    const before = fileSnapshot(lake)
    expect(await catchError(update(DELTA))).toMatchObject({
      code: 'bad_output',
      message: expect.stringContaining("written with no `table`, and this run has `table: 'delta'`"),
    })
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it.each(['_klines.json', undefined])('a table stays one when no table is requested, also without %s', async lost => {
    const { lake, update } = await tableSetup()
    if (lost) rmSync(join(lake, lost))
    const unnamed = { table: undefined, numbers: undefined, vacuum: '7d' }
    expect((await update(unnamed)).lake).toMatchObject({ written: 0, delta: { version: 0, isNew: false } })
  })

  it('force turns plain files into a table and back, and leaves nothing of the other kind', async () => {
    const { update, lake, files } = await lakeSetup()
    await update({ numbers: 'decimal' })
    expect((await update({ ...DELTA, force: true })).lake).toMatchObject({
      written: 2,
      delta: { version: 0, isNew: true },
    })
    expect(withoutIds(files().filter(name => name.endsWith('.parquet')))).toEqual(
      ['BTCUSDT', 'ETHUSDT'].map(symbol => tablePart(symbol, 0)),
    )
    expect(await tableSums(lake)).toEqual(expectedSums())
    expect((await update(DELTA)).lake).toMatchObject({ written: 0, unchanged: 2 })
    await update({ ...DELTA, force: true })
    expect((await update({ numbers: 'decimal', force: true })).lake).toMatchObject({ written: 2, removed: [] })
    expect(files()).toEqual([...ROOT_FILES, onlyPart('BTCUSDT'), onlyPart('ETHUSDT')])
    expect((await update({ numbers: 'decimal' })).lake).toMatchObject({ written: 0, unchanged: 2 })
  })

  it('the table of another program is no lake', async () => {
    const { update, lake } = await lakeSetup()
    const metaData = { id: 'x', format: { provider: 'parquet', options: {} }, schemaString: '{}', partitionColumns: [] }
    mkdirSync(join(lake, '_delta_log'), { recursive: true })
    writeFileSync(
      join(lake, `_delta_log/${digits(0)}.json`),
      `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n${JSON.stringify({ metaData: { ...metaData, configuration: {} } })}\n`,
    )
    const before = fileSnapshot(lake)
    const error = await catchError(update({ ...DELTA, force: true }))
    expect(error).toMatchObject({
      code: 'bad_output',
      message: expect.stringContaining('a Delta table that klines did not write'),
    })
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it('the log of another program beside plain files is left alone', async () => {
    const { update, lake, write, read } = await lakeSetup()
    await update()
    mkdirSync(join(lake, '_delta_log'))
    write(`_delta_log/${digits(0)}.json`, 'theirs')
    expect((await update({ force: true })).lake).toMatchObject({ written: 2 })
    expect(read(`_delta_log/${digits(0)}.json`).toString()).toBe('theirs')
  })
})

it('two writers at once: one is refused, and one version is made', async () => {
  const { lake, update, change } = await tableSetup()
  const changed = change('BTCUSDT', 7)
  const results = await Promise.allSettled([update(), update()])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(logNames(lake)).toHaveLength(2)
  expect(await tableSums(lake)).toEqual(expectedSums(changed))
})

it.each<[Record<string, unknown>, RegExp]>([
  [{ table: 'iceberg' }, /`table` is "iceberg"\. Expected delta\./],
  [{ table: undefined, vacuum: '7d' }, /`vacuum` removes files of old versions, which only a Delta table has\./],
  [{ vacuum: '0d' }, /`vacuum` is "0d"\. Expected a length of time of 1h or more, such as 7d/],
  [{ vacuum: 'soon' }, /`vacuum` is "soon"/],
])('refuses %j', async (options, message) => {
  const { update, lake } = await lakeSetup()
  const error = await catchError(update({ ...DELTA, ...options }))
  expect(error).toMatchObject({ code: 'bad_option', message: expect.stringMatching(message) })
  expect(logNames(lake)).toEqual([])
})

it('a new window is one part more in the next version', async () => {
  const { lake, update, mirror } = await tableSetup()
  const rows = weekRows(OPEN_WEEK, { seed: 1 })
  putFile(mirror, weekPath('ETHUSDT', OPEN_WEEK), rows)
  expect((await update()).lake).toMatchObject({ written: 1, delta: { version: 1 } })
  expect(await tableSums(lake)).toEqual(expectedSums({ [`ETHUSDT ${OPEN_WEEK}`]: rows }))
})
