import { describe, expect, it } from 'vitest'
import { expectPlain } from './support/fault-row.js'
import { ALL_WINDOWS, LIST, type RunOptions, usePlaces } from './support/fault-scenario.js'

const newPlace = usePlaces()
const OLD = 'what was there before\n'

describe('a call that fails', () => {
  const failing = (fail: object): RunOptions => ({
    preload: ['failing-fs.mjs'],
    env: { KLINES_TEST_FAIL: JSON.stringify(fail) },
  })

  it.concurrent.each<[string, object, RegExp]>([
    [
      'F46 EMFILE, writing',
      { call: 'openSync', at: 6, path: 'm/.klines-tmp', code: 'EMFILE' },
      /Cannot write the mirror m: too many open files \(EMFILE\)/,
    ],
    [
      'F47 EIO, writing',
      { call: 'writeSync', at: 6, path: 'm/.klines-tmp', code: 'EIO' },
      /Cannot write the mirror m: input\/output error \(EIO\)/,
    ],
    [
      'F47 EIO, renaming',
      { call: 'renameSync', at: 6, path: 'm/.klines-tmp', code: 'EIO' },
      /Cannot write the mirror m: input\/output error \(EIO\)/,
    ],
  ])('%s a mirror stops a download cleanly and keeps what is finished', async (_, fail, says) => {
    const place = await newPlace()
    const args = place.args(['--concurrency', '1']).filter(arg => arg !== '-o' && arg !== 'x.csv')
    const run = await place.run(args, failing(fail))
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(says)
    expectPlain(run.stderr)
    // Two files of the mirror itself came first.
    expect(place.held()).toEqual([...ALL_WINDOWS.slice(0, 2), LIST].sort())
    await place.expectRepair(ALL_WINDOWS.slice(2))
  })

  it.concurrent('F46 with hardly any descriptors at all, nothing wrong is kept', async () => {
    const place = await newPlace()
    const policy = { tries: 3, baseDelayMs: 30 }
    const run = await place.shell(`ulimit -n 26; ${place.command('--concurrency', '64')}`, { policy })
    expect([0, 1, 3, 5]).toContain(run.code)
    expectPlain(run.stderr.replace(/^Note: .*\n/gm, ''))
    if (run.code !== 0) expect(run.stderr).toContain('EMFILE')
    const held = place.held()
    expect(place.outputs()).toEqual(run.code === 0 ? ['x.csv'] : [])
    await place.expectRepair(ALL_WINDOWS.filter(path => !held.includes(path)))
  })

  it.concurrent.each<[string, object]>([
    ['F47 EIO, writing', { call: 'handle.write', path: '.x.csv', code: 'EIO' }],
    ['F47 EIO, syncing', { call: 'handle.sync', path: '.x.csv', code: 'EIO' }],
    ['F47 EIO, renaming', { call: 'promises.rename', path: '.x.csv', code: 'EIO' }],
  ])('%s an export leaves the old file and no temp file', async (_, fail) => {
    const place = await newPlace()
    place.desk.write('x.csv', OLD)
    const run = await place.download({ args: ['--force'], ...failing(fail) })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Cannot write x\.csv: input\/output error \(EIO\)\.\n$/)
    expect(place.outputs()).toEqual(['x.csv'])
    expect(place.desk.text('x.csv')).toBe(OLD)
    await place.expectRepair()
  })

  it.concurrent.each([
    [['export', '-o', 'y.csv'], 'Cannot read'],
    [['stats'], 'Broken in the mirror: Cannot read'],
  ])('F47 EIO, reading a mirror is told by %j', async ([command, ...args], says) => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    const run = await place.run(
      [command, 'BTCUSDT', '-i', '15m', '--mirror', 'm', ...args],
      failing({ call: 'readSync', at: 3, path: 'm/api', code: 'EIO' }),
    )
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toBe(`klines: ${says} the mirror m: input/output error (EIO).\n`)
    expect(place.outputs()).toEqual(['x.csv'])
  })
})
