import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { weekPath, weekRows } from '../support/synthetic-tree.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'

describe('F48 a mirrored file', () => {
  const replaceWith =
    (make: (path: string, scenario: FaultScenario) => unknown) => (path: string, scenario: FaultScenario) => {
      rmSync(path)
      make(path, scenario)
    }
  const fifo = replaceWith(path => execFileSync('mkfifo', [path]))
  const DAMAGE: readonly [string, (path: string, scenario: FaultScenario) => unknown][] = [
    ['that is a FIFO', fifo],
    [
      'with a flipped bit',
      path =>
        writeFileSync(
          path,
          readFileSync(path).map((byte, at) => (at === 40 ? byte ^ 0x40 : byte)),
        ),
    ],
    ['that is cut short', path => truncateSync(path, 500)],
    ['that is empty', path => truncateSync(path, 0)],
    ['full of zeros', path => writeFileSync(path, Buffer.alloc(1_000))],
    ['that belongs to another window', path => writeFileSync(path, JSON.stringify(weekRows('2025-01-06')))],
    ['that is a folder', replaceWith(path => mkdirSync(join(path, 'x'), { recursive: true }))],
    // The content is valid and of this window: only the link itself is wrong.
    [
      'that is a symbolic link',
      replaceWith((path, { tree, mirror }) => symlinkSync(join(tree, relative(mirror, path)), path)),
    ],
    ['that is missing', path => rmSync(path)],
  ]
  it.concurrent.each(DAMAGE)('%s is detected and downloaded again, and no other window is', async (_, damageFile) => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    damageFile(join(scenario.mirror, FAULTY), scenario)
    // A FIFO that blocks must not block the test process.
    await scenario.expectRepair([FAULTY], { inChildProcess: damageFile === fifo })
  })

  it.concurrent('corrupt in every way at once: the program neither exports nor blocks, and then repairs all', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    for (const [index, path] of ALL_WINDOWS.entries()) DAMAGE[index][1](join(scenario.mirror, path), scenario)
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
    await scenario.expectRepair(ALL_WINDOWS, { inChildProcess: true })
  })

  it.concurrent.each<[string, (path: string, scenario: FaultScenario) => unknown, number]>([
    ['a FIFO', fifo, 2],
    ['a folder', replaceWith(path => mkdirSync(path)), 2],
    ['empty', path => truncateSync(path, 0), 2],
    ['missing', path => rmSync(path), 0],
  ])('and mirror.json is %s', async (_, damageFile, code) => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    damageFile(join(scenario.mirror, 'mirror.json'), scenario)
    const run = await scenario.download({ args: ['--force'] })
    expect(run.code).toBe(code)
    if (code !== 0) expect(run.stderr).toMatch(/^klines: m\/mirror\.json cannot be read as JSON\.\n {2}Remove it/)
    expect(run.tookMs).toBeLessThan(10_000)
    if (code !== 0) rmSync(join(scenario.mirror, 'mirror.json'), { recursive: true })
    await scenario.expectRepair()
  })

  it.concurrent('that is a symbolic link is replaced, and its target stays as it was', async () => {
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
