import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { weekPath, weekRows } from '../support/synthetic-tree.js'
import { ALL_WINDOWS, FAULTY, type Place, usePlaces } from './support/fault-scenario.js'

const newPlace = usePlaces()
const OLD = 'what was there before\n'

describe('F48 a mirrored file', () => {
  const becomes = (make: (path: string, place: Place) => unknown) => (path: string, place: Place) => {
    rmSync(path)
    make(path, place)
  }
  const fifo = becomes(path => execFileSync('mkfifo', [path]))
  const damage: readonly [string, (path: string, place: Place) => unknown][] = [
    ['that is a FIFO', fifo],
    [
      'with a flipped bit',
      path =>
        writeFileSync(
          path,
          readFileSync(path).map((byte, at) => (at === 40 ? byte ^ 0x40 : byte)),
        ),
    ],
    ['cut short', path => truncateSync(path, 500)],
    ['emptied', path => truncateSync(path, 0)],
    ['of zeros', path => writeFileSync(path, Buffer.alloc(1_000))],
    ["that is another window's", path => writeFileSync(path, JSON.stringify(weekRows('2025-01-06')))],
    ['that is a folder', becomes(path => mkdirSync(join(path, 'x'), { recursive: true }))],
    // Sound, and of this very window: nothing is wrong but that it is a link.
    ['that is a link', becomes((path, { tree, mirror }) => symlinkSync(join(tree, relative(mirror, path)), path))],
    ['that is gone', path => rmSync(path)],
  ]
  it.concurrent.each(damage)('%s is found and had again, and the others are not', async (_, spoil) => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    spoil(join(place.mirror, FAULTY), place)
    // One that waits at a FIFO must not hold up this process too.
    await place.expectRepair([FAULTY], { byBinary: spoil === fifo })
  })

  it.concurrent('in every way at once, by the binary: a note for each, and never a wait', async () => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    for (const [index, path] of ALL_WINDOWS.entries()) damage[index][1](join(place.mirror, path), place)
    const offline = await place.run([
      'export',
      'BTCUSDT',
      '-i',
      '15m',
      '--mirror',
      'm',
      '-o',
      'y.csv',
      '--to',
      '2025-02-17',
    ])
    expect(offline).toMatchObject({ code: 3, stdout: '' })
    expect(offline.stderr).toMatch(/broken in the mirror/)
    expect(offline.tookMs).toBeLessThan(10_000)
    expect(place.outputs()).toEqual(['x.csv'])
    await place.expectRepair(ALL_WINDOWS, { byBinary: true })
  })

  it.concurrent.each<[string, (path: string, place: Place) => unknown, number]>([
    ['a FIFO', fifo, 2],
    ['a folder', becomes(path => mkdirSync(path)), 2],
    ['emptied', path => truncateSync(path, 0), 2],
    ['gone', path => rmSync(path), 0],
  ])('and what says whose mirror it is: %s', async (_, spoil, code) => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    spoil(join(place.mirror, 'mirror.json'), place)
    const run = await place.download({ args: ['--force'] })
    expect(run.code).toBe(code)
    if (code !== 0) expect(run.stderr).toMatch(/^klines: m\/mirror\.json cannot be read as JSON\.\n {2}Remove it/)
    expect(run.tookMs).toBeLessThan(10_000)
    if (code !== 0) rmSync(join(place.mirror, 'mirror.json'), { recursive: true })
    await place.expectRepair()
  })

  it.concurrent('that is a link leads nowhere: what it points to stays as it was', async () => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    const outside = place.desk.write('outside.json', OLD)
    const path = join(place.mirror, weekPath('BTCUSDT', '2025-01-06'))
    rmSync(path)
    symlinkSync(outside, path)
    await place.expectRepair([weekPath('BTCUSDT', '2025-01-06')])
    expect(place.desk.text('outside.json')).toBe(OLD)
  })
})
