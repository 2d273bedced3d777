import fs, { copyFileSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import { fileSnapshot, lakeSetup, onlyPart } from '../support/lake.js'
import { FULL_WEEKS, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'

const [WEEK] = FULL_WEEKS

/** A lake, and a second run of it that waits for the service with the lock; a change that both runs see. */
async function heldSetup() {
  const setup = await lakeSetup()
  const { update, server, mirror, tree } = setup
  await update()
  const rows = weekRows(WEEK, { seed: 7 })
  for (const root of [tree, mirror])
    for (const symbol of ['BTCUSDT', 'ETHUSDT'] as const) putFile(root, weekPath(symbol, WEEK), rows)
  const [reached, ended] = [deferred(), deferred()]
  server.hold = () => {
    reached.resolve()
    return ended.promise
  }
  const running = catchError(update())
  await reached.promise
  /** Lets the first run go on; returns its error. */
  const finish = () => {
    ended.resolve()
    return running
  }
  return { ...setup, finish }
}

/** Puts another lock into the place of that of a run. */
function replaceLock(lake: string): void {
  rmSync(join(lake, '_klines.lock'), { recursive: true })
  mkdirSync(join(lake, '_klines.lock'))
}

describe('a run that slept and lost its lock', () => {
  it('places and removes nothing', async () => {
    const { lake, finish } = await heldSetup()
    replaceLock(lake)
    const before = fileSnapshot(lake)
    expect(await finish()).toMatchObject({
      code: 'lake_busy',
      message: expect.stringContaining('while this one stood still'),
      suggestions: ['Run the same command again when it has ended.'],
    })
    expect(fileSnapshot(lake)).toEqual(before)
  })

  const [BTC, ETH, OTHER] = ['BTCUSDT', 'ETHUSDT', 'ADAUSDT'].map(symbol => onlyPart(symbol))
  it.each<[string, string[]]>([
    [BTC, [BTC]],
    [ETH, [BTC, ETH]],
    ['_README.md', ['_README.md', BTC, ETH, OTHER]],
  ])('when %s is renamed changes nothing behind it, and the manifest comes last', async (name, expected) => {
    const { lake, update, mirror } = await lakeSetup()
    await update()
    for (const symbol of ['BTCUSDT', 'ETHUSDT']) putFile(mirror, weekPath(symbol, WEEK), weekRows(WEEK, { seed: 7 }))
    // A part to prune, and a file that is written before the manifest.
    putFile(lake, OTHER, '')
    copyFileSync(join(lake, BTC), join(lake, OTHER))
    rmSync(join(lake, '_README.md'))
    const before = fileSnapshot(lake)
    const { rename } = fs.promises
    const put = (value: typeof rename) => {
      fs.promises.rename = value
      syncBuiltinESMExports()
    }
    onTestFinished(() => put(rename))
    put((from, to) => {
      if (to === join(lake, name)) replaceLock(lake)
      return rename(from, to)
    })
    expect(await catchError(update({ offline: true, prune: true }))).toMatchObject({ code: 'lake_busy' })
    const after = fileSnapshot(lake)
    const changed = Object.keys({ ...before, ...after }).filter(path => !isDeepStrictEqual(before[path], after[path]))
    expect(changed.sort()).toEqual(expected.toSorted())
    expect(fs.existsSync(join(lake, '_klines.lock'))).toBe(true)
  })

  it('leaves all that another run has written meanwhile', async () => {
    const { lake, finish, update } = await heldSetup()
    rmSync(join(lake, '_klines.lock'), { recursive: true })
    expect((await update({ offline: true })).lake).toMatchObject({ written: 2 })
    const before = fileSnapshot(lake)
    expect(await finish()).toMatchObject({
      code: 'lake_busy',
      message: expect.stringContaining('while this one stood still'),
    })
    expect(fileSnapshot(lake)).toEqual(before)
    expect((await update({ offline: true })).lake).toMatchObject({ written: 0, unchanged: 2 })
  })
})

it('the lock of a killed run holds for a minute', async () => {
  const { update, lake } = await lakeSetup()
  await update()
  mkdirSync(join(lake, '_klines.lock'))
  expect(await catchError(update())).toMatchObject({ code: 'lake_busy' })
  utimesSync(join(lake, '_klines.lock'), Date.now() / 1000 - 61, Date.now() / 1000 - 61)
  expect((await update()).lake).toMatchObject({ written: 0, unchanged: 2 })
})

it('temp files of a killed writer go with the next run when they are older than an hour', async () => {
  const { update, files, lake } = await lakeSetup()
  await update()
  const before = files()
  const [part] = before.filter(name => name.endsWith('.parquet'))
  const folder = part.slice(0, part.lastIndexOf('/'))
  const temps = ['._klines.json.7~0011223344556677.tmp', `${folder}/.part-0.parquet.8~0011223344556677.tmp`]
  const others = [`${folder}/.part-0.parquet.9~0011223344556677.tmp`, `${folder}/.part-0.parquet.tmp`]
  for (const name of [...temps, others[1]]) putFile(lake, name, 'x')
  putFile(lake, others[0], 'x', Date.now())
  await update()
  expect(files()).toEqual([...before, ...others].sort())
})
