import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openRun } from '../../src/engine/run.js'
import { onWarning } from '../support/events.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { startTestServer } from '../support/servers/test-server.js'
import { NO_PAUSE } from '../support/servers/upstream-setup.js'
import { FULL_WEEKS, PRESENT, weekPath } from '../support/synthetic-tree.js'
import {
  ALL_WINDOWS,
  FAULTY,
  type FaultScenario,
  LIST,
  STORED_LIST,
  useFaultScenarios,
} from './support/fault-scenario.js'

const newScenario = useFaultScenarios()

/** What no window can be, each with what a message says of it. */
const DAMAGES: readonly [string, RegExp, (file: string) => unknown][] = [
  ['cut short', /JSON/, file => truncateSync(file, 500)],
  ['empty', /the body is empty/, file => truncateSync(file, 0)],
]

/** A mirror in which the first windows are damaged, one in each way; returns their paths. */
async function damagedMirror(): Promise<{ scenario: FaultScenario; damaged: string[] }> {
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  const damaged = DAMAGES.map((_, index) => weekPath('BTCUSDT', FULL_WEEKS[index]))
  for (const [index, path] of damaged.entries()) DAMAGES[index][2](join(scenario.mirror, path))
  return { scenario, damaged }
}

const status = async (url: string) => (await fetch(url)).status

describe('F48 a corrupt window in a mirror', () => {
  it('is 404 from the server, which logs each version once', async () => {
    const { scenario, damaged } = await damagedMirror()
    const lines: string[] = []
    const { request } = await startTestServer(scenario.mirror, { now: () => PRESENT, warn: line => lines.push(line) })
    const statusOf = async (path: string) => (await request(path)).status
    for (let round = 0; round < 2; round++) {
      for (const path of damaged) expect(await statusOf(path), path).toBe(404)
    }
    expect(await statusOf(weekPath('ETHUSDT', FULL_WEEKS[0]))).toBe(404)
    writeFileSync(join(scenario.mirror, damaged[0]), 'another version')
    for (let round = 0; round < 2; round++) expect(await statusOf(damaged[0])).toBe(404)
    expect(lines).toHaveLength(DAMAGES.length + 1)
    for (const [index, path] of [...damaged, damaged[0]].entries()) {
      expect(lines[index]).toContain(`Corrupt in the mirror ${scenario.mirror}, so not served: ${path}: `)
      expect(lines[index]).toMatch(DAMAGES[index % DAMAGES.length][1])
    }
  })

  it('is downloaded again by a server with --upstream, and logged once', async () => {
    const { scenario, damaged } = await damagedMirror()
    scenario.server.heal()
    const lines: string[] = []
    const { mirror, baseUrl } = scenario
    const events = onWarning(line => lines.push(line))
    const { request } = await startTestServer(mirror, {
      source: baseUrl,
      now: () => PRESENT,
      upstream: () => openRun({ baseUrl, mirror, now: PRESENT, onEvent: events }, { policy: NO_PAUSE }),
    })
    for (let round = 0; round < 2; round++) {
      for (const path of damaged) expect((await request(path)).status, path).toBe(200)
    }
    expect(scenario.server.windowRequests()).toEqual(damaged)
    expect(lines).toHaveLength(damaged.length)
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
  })
})

describe('F65 a mirrored file of gigabytes', () => {
  /** A scenario whose mirror has sparse files in the places of `paths`. */
  async function hugeFiles(size: number, paths: readonly string[]): Promise<FaultScenario> {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    for (const path of paths) truncateSync(join(scenario.mirror, path), size)
    return scenario
  }

  it.concurrent('is corrupt by its size, for every command', async () => {
    const size = 6_000_000_000
    const scenario = await hugeFiles(size, [FAULTY])
    const reason = `of ${size} bytes; expected at most 16777216`
    const series = ['BTCUSDT', '-i', '15m', '--mirror', 'm']
    for (const [args, code] of [
      [['export', ...series, '-o', 'y.csv'], 3],
      [['verify', ...series, '--json'], 6],
      [['export', ...series, '-o', 'y.csv', '--dry-run', '--json'], undefined],
    ] as const) {
      const run = await scenario.run(args)
      if (code !== undefined) expect([args[0], run.code]).toEqual([args[0], code])
      if (code !== undefined) expect(run.stdout + run.stderr).toContain(reason)
      else expect(run.stdout).toContain('"missing": 1')
      expect(run.tookMs).toBeLessThan(60_000)
    }
    await scenario.expectRepair([FAULTY])
  })

  it.concurrent('is 404 from the server, which goes on answering in flat memory', async () => {
    const scenario = await hugeFiles(1_500_000_000, [FAULTY, STORED_LIST])
    const { running, memory } = scenario.start(['serve', '--mirror', 'm', '--port', '0'])
    const server = await startServeCommand(scenario.sandbox, [], running)
    for (let round = 0; round < 2; round++) expect(await status(`${server.url}/${FAULTY}`)).toBe(404)
    expect(await (await fetch(`${server.url}/${LIST}`)).json()).toHaveLength(783)
    const { stderr } = await server.stop()
    expect(stderr.trimEnd().split('\n')).toHaveLength(2)
    expect(stderr).toContain(
      `klines: Corrupt in the mirror m, so not served: ${FAULTY}: a file of 1500000000 bytes; expected at most 16777216`,
    )
    expect(memory()).toBeLessThan(250 * 1024 * 1024)
  })
})
