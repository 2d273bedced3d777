import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { weekPath, weekRows } from '../support/synthetic-tree.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'

describe('F48 a mirrored file', () => {
  const becomes =
    (make: (path: string, scenario: FaultScenario) => unknown) => (path: string, scenario: FaultScenario) => {
      rmSync(path)
      make(path, scenario)
    }
  const fifo = becomes(path => execFileSync('mkfifo', [path]))
  const damage: readonly [string, (path: string, scenario: FaultScenario) => unknown][] = [
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
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    spoil(join(scenario.mirror, FAULTY), scenario)
    // One that waits at a FIFO must not hold up this process too.
    await scenario.expectRepair([FAULTY], { byBinary: spoil === fifo })
  })

  it.concurrent('in every way at once, by the binary: a note for each, and never a wait', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    for (const [index, path] of ALL_WINDOWS.entries()) damage[index][1](join(scenario.mirror, path), scenario)
    const offline = await scenario.run([
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
    expect(scenario.outputs()).toEqual(['x.csv'])
    await scenario.expectRepair(ALL_WINDOWS, { byBinary: true })
  })

  it.concurrent.each<[string, (path: string, scenario: FaultScenario) => unknown, number]>([
    ['a FIFO', fifo, 2],
    ['a folder', becomes(path => mkdirSync(path)), 2],
    ['emptied', path => truncateSync(path, 0), 2],
    ['gone', path => rmSync(path), 0],
  ])('and what message whose mirror it is: %s', async (_, spoil, code) => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    spoil(join(scenario.mirror, 'mirror.json'), scenario)
    const run = await scenario.download({ args: ['--force'] })
    expect(run.code).toBe(code)
    if (code !== 0) expect(run.stderr).toMatch(/^klines: m\/mirror\.json cannot be read as JSON\.\n {2}Remove it/)
    expect(run.tookMs).toBeLessThan(10_000)
    if (code !== 0) rmSync(join(scenario.mirror, 'mirror.json'), { recursive: true })
    await scenario.expectRepair()
  })

  it.concurrent('that is a link leads nowhere: what it points to stays as it was', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    const outside = scenario.sandbox.write('outside.json', OLD)
    const path = join(scenario.mirror, weekPath('BTCUSDT', '2025-01-06'))
    rmSync(path)
    symlinkSync(outside, path)
    await scenario.expectRepair([weekPath('BTCUSDT', '2025-01-06')])
    expect(scenario.sandbox.text('outside.json')).toBe(OLD)
  })
})
