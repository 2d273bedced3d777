import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { catchError } from '../support/errors.js'
import { filesBelow } from '../support/files-below.js'
import { fileSnapshot, lakeSetup, onlyPart } from '../support/lake.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { snapshot } from '../support/snapshot.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, RENDERED, treeRows, weekPath, weekRows } from '../support/synthetic-tree.js'

const ROOT_FILES = ['_README.md', '_klines.json', '_views.sql']
const BTC = onlyPart('BTCUSDT')
const ETH = onlyPart('ETHUSDT')
const FILES = [...ROOT_FILES, BTC, ETH]
const DAY = 86_400_000

/** The open times in a part, as DuckDB reads it. */
async function openTimes(lake: string, path: string): Promise<number[]> {
  const { rows } = await duckdb(`select epoch_ms(open_time)::double as time from '${join(lake, path)}'`)
  return rows.map(({ time }) => time as number)
}

const treeTimes = (symbol: string) => [...treeRows(symbol).values()].flat().map(([time]) => time)

describe('a lake is built and kept up to date', () => {
  it('has a part for each series, with the rows of the series in order, and without symbol and interval', async () => {
    const { update, lake, files } = await lakeSetup()
    const report = await update()
    expect(files()).toEqual(FILES)
    expect(report.lake).toEqual({ folder: lake, written: 2, unchanged: 0, removed: [], notRequested: [] })
    expect(report.files.map(({ path, candles }) => [path, candles])).toEqual([
      [join(lake, BTC), 42],
      [join(lake, ETH), 42],
    ])
    expect(await openTimes(lake, BTC)).toEqual(treeTimes('BTCUSDT'))
    expect(
      Object.keys((await duckdb(`select * from read_parquet('${join(lake, BTC)}', hive_partitioning = false)`)).types),
    ).not.toContain('symbol')
  })

  it('writes nothing when nothing has changed; a dry run names what an open window may change', async () => {
    const { update, dryRun, lake } = await lakeSetup()
    await update()
    expect((await dryRun()).files).toEqual([BTC, ETH].map(path => join(lake, path)))
    expect((await dryRun({ offline: true })).files).toEqual([])
    const before = fileSnapshot(lake)
    const { lake: changes, files } = await update()
    expect(changes).toMatchObject({ written: 0, unchanged: 2 })
    expect(files).toEqual([])
    expect(fileSnapshot(lake)).toEqual(before)
    await update({ offline: true })
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it('writes only the part with a new window', async () => {
    const { update, lake, tree, files } = await lakeSetup()
    await update()
    const before = fileSnapshot(lake)
    putFile(tree, weekPath('ETHUSDT', OPEN_WEEK), weekRows(OPEN_WEEK, { seed: 1 }), RENDERED + DAY)
    expect((await update()).lake).toMatchObject({ written: 1, unchanged: 1 })
    const after = fileSnapshot(lake)
    expect(after[BTC]).toEqual(before[BTC])
    expect(after['_views.sql']).toEqual(before['_views.sql'])
    expect(files()).toEqual(FILES)
    expect(await openTimes(lake, ETH)).toHaveLength(48)
  })

  it('sees a window of the same size and time with other content', async () => {
    const { update, mirror } = await lakeSetup()
    await update()
    const path = weekPath('BTCUSDT', FULL_WEEKS[0])
    const { size } = statSync(join(mirror, path))
    putFile(mirror, path, weekRows(FULL_WEEKS[0], { seed: 7 }), statSync(join(mirror, path)).mtimeMs)
    expect(statSync(join(mirror, path)).size).toBe(size)
    expect((await update({ offline: true })).lake).toMatchObject({ written: 1, unchanged: 1 })
  })

  it('writes a part again that is missing, or has another size or other bytes', async () => {
    const { update, lake, read } = await lakeSetup()
    await update()
    const bytes = read(BTC)
    const path = join(lake, BTC)
    for (const damage of [
      () => rmSync(path),
      () => writeFileSync(path, 'PAR1'),
      () => {
        writeFileSync(path, bytes.with(100, bytes[100] ^ 1))
        utimesSync(path, 1, 1)
      },
    ]) {
      damage()
      expect((await update({ offline: true })).lake).toMatchObject({ written: 1, unchanged: 1 })
      expect(read(BTC).equals(bytes)).toBe(true)
      expect((await update({ offline: true })).lake).toMatchObject({ written: 0, unchanged: 2 })
    }
  })

  it('makes all parts again, with a note, when the manifest cannot be used', async () => {
    const { update, write, lake, warnings } = await lakeSetup()
    await update()
    const before = fileSnapshot(lake)
    for (const text of [
      '{',
      '{"schema":2,"source":null,"options":{},"series":[]}',
      '{"schema":3,"source":null,"options":{}}',
      '{"schema":3,"source":null,"options":{},"series":[1]}',
    ]) {
      warnings.length = 0
      write('_klines.json', text)
      // Those that are the same stay, time and all.
      expect((await update({ offline: true })).lake, text).toMatchObject({ written: 0, unchanged: 2 })
      const note = expect.stringMatching(/_klines\.json cannot be used: .* All parts are written again\.$/)
      expect(warnings, text).toContainEqual(note)
      for (const part of [BTC, ETH]) expect(fileSnapshot(lake)[part], text).toEqual(before[part])
    }
    warnings.length = 0
    expect((await update({ offline: true })).lake).toMatchObject({ written: 0 })
    expect(String(warnings)).not.toContain('cannot be used')
  })

  it('replaces nothing when a window is missing, and leaves no folder of a new lake', async () => {
    const { update, lake, mirror } = await lakeSetup()
    await update()
    const before = fileSnapshot(lake)
    putFile(mirror, weekPath('BTCUSDT', OPEN_WEEK), weekRows(OPEN_WEEK))
    rmSync(join(mirror, weekPath('ETHUSDT', FULL_WEEKS[2])))
    expect(await catchError(update({ offline: true }))).toMatchObject({ code: 'incomplete' })
    expect(fileSnapshot(lake)).toEqual(before)
    const other = join(lake, '..', 'deep', 'other')
    expect(await catchError(update({ offline: true, output: other }))).toMatchObject({ code: 'incomplete' })
    expect(filesBelow(join(lake, '..', 'deep'))).toEqual([])
    expect(statSync(join(lake, '..', 'deep'), { throwIfNoEntry: false })).toBeUndefined()
  })
})

it('a series that has no candle left loses its part', async () => {
  const { update, mirror, files } = await lakeSetup()
  await update()
  for (const week of [...FULL_WEEKS, OPEN_WEEK]) putFile(mirror, weekPath('ETHUSDT', week), [])
  expect((await update({ offline: true })).lake).toMatchObject({ written: 0, unchanged: 1, removed: [ETH] })
  expect(files()).toEqual([...ROOT_FILES, BTC])
})

it('other options or another range make all parts again; those of one lake may be compressed in different ways', async () => {
  const { update } = await lakeSetup()
  await update()
  for (const options of [
    { numbers: 'decimal' },
    { columns: ['open_time', 'close'] },
    { from: '2025-01-07' },
  ] as const) {
    expect((await update({ ...options, offline: true })).lake).toMatchObject({ written: 2, unchanged: 0 })
    expect((await update({ ...options, offline: true })).lake).toMatchObject({ written: 0, unchanged: 2 })
  }
  const snappy = { from: '2025-01-07', compression: 'snappy', offline: true } as const
  expect((await update({ ...snappy, symbols: ['BTCUSDT'] })).lake).toMatchObject({ written: 1, unchanged: 0 })
  expect((await update(snappy)).lake).toMatchObject({ written: 1, unchanged: 1 })
})

describe('series that are not requested', () => {
  it('are named and stay; prune removes their parts and nothing else', async () => {
    const { update, files, lake, write } = await lakeSetup()
    await update()
    write('notes.txt', 'mine')
    const before = fileSnapshot(lake)
    expect((await update({ symbols: ['BTCUSDT'] })).lake).toMatchObject({
      written: 0,
      notRequested: ['ETHUSDT 15m'],
      removed: [],
    })
    expect(fileSnapshot(lake)).toEqual(before)
    const pruned = await update({ symbols: ['BTCUSDT'], prune: true })
    expect(pruned.lake).toMatchObject({ removed: [ETH], notRequested: [] })
    expect(files()).toEqual([...ROOT_FILES, 'notes.txt', BTC])
    expect(statSync(join(lake, 'symbol=ETHUSDT'), { throwIfNoEntry: false })).toBeUndefined()
    expect((await update()).lake).toMatchObject({ written: 1, unchanged: 1 })
  })

  it('force does not mix options: it asks for them or for prune, before any download', async () => {
    const { update, lake, server } = await lakeSetup()
    await update()
    const before = fileSnapshot(lake)
    const requested = server.paths('windows')
    const mixed = { symbols: ['BTCUSDT'] as ['BTCUSDT'], numbers: 'decimal' as const, force: true }
    expect(await catchError(update(mixed))).toMatchObject({
      code: 'bad_output',
      message: expect.stringContaining('ETHUSDT 15m'),
    })
    expect(fileSnapshot(lake)).toEqual(before)
    expect(server.paths('windows')).toEqual(requested)
    expect((await update({ ...mixed, prune: true })).lake).toMatchObject({ written: 1, removed: [ETH] })
  })

  it('of a damaged manifest are not mixed with new parts, and a dry run says so too', async () => {
    const { update, dryRun, lake, read, write } = await lakeSetup()
    await update()
    const manifest = JSON.parse(String(read('_klines.json')))
    const mixed = { symbols: ['BTCUSDT'] as ['BTCUSDT'], numbers: 'decimal' as const, offline: true }
    const options = { ...manifest.options, compression: undefined }
    for (const text of ['{', JSON.stringify({ ...manifest, options })]) {
      write('_klines.json', text)
      const before = fileSnapshot(lake)
      for (const run of [update, dryRun]) {
        const error = await catchError(run(mixed))
        expect(error).toMatchObject({ code: 'bad_output', message: expect.stringContaining('also has ETHUSDT 15m') })
      }
      expect(fileSnapshot(lake)).toEqual(before)
    }
    expect((await update({ ...mixed, prune: true })).lake).toMatchObject({ written: 1, removed: [ETH] })
  })
})

describe('refusals', () => {
  it('of the folder, where its name has a meaning', async () => {
    const { update, server } = await lakeSetup()
    const names = '- x/{symbol} x.csv symbol=X/lake interval=1h x/open=1/lake'
    for (const output of names.split(' '))
      expect(await catchError(update({ output })), output).toMatchObject({ code: 'bad_output' })
    expect(server.log).toEqual([])
  })

  it('of a file, and of a folder that is no lake, which stay as they were', async () => {
    const { update, folder, lake } = await lakeSetup()
    writeFileSync(join(folder, 'file'), 'x')
    expect(await catchError(update({ output: join(folder, 'file') }))).toMatchObject({ code: 'bad_output' })
    mkdirSync(lake)
    writeFileSync(join(lake, 'mine.parquet'), 'x')
    const before = snapshot(folder)
    const error = await catchError(update({ force: true }))
    expect(error).toMatchObject({
      code: 'bad_output',
      message: `${lake} is not empty. Expected a lake (a folder with _klines.json), or a new folder.`,
    })
    expect(snapshot(folder)).toEqual(before)
  })

  it('of candles of another source than those of the lake', async () => {
    const { update, folder, lake, server } = await lakeSetup()
    await update()
    const other = { baseUrl: 'https://other.example', mirror: join(folder, 'other') }
    const message = `${lake} has candles of ${server.url}, and this run of https://other.example.`
    expect(await catchError(update(other))).toMatchObject({ code: 'bad_output', message })
  })

  it('of the column symbol, which the folders name', async () => {
    const { update } = await lakeSetup()
    const error = await catchError(update({ columns: ['open_time', 'symbol'] }))
    expect(error).toMatchObject({ code: 'bad_option', message: expect.stringContaining('"symbol"') })
  })
})
