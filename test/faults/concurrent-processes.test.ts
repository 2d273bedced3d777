import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deferred, until } from '../support/deferred.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { FULL_WEEKS, putFile, RENDERED, weekRows } from '../support/synthetic-tree.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, LIST, useFaultScenarios } from './support/fault-scenario.js'
import { type FaultResponse, healthy } from './support/fault-server.js'

const newScenario = useFaultScenarios()

/** The healthy response, held back until `open` is called. */
function gatedResponse(): { response: FaultResponse; open: () => void } {
  const gate = deferred()
  const response: FaultResponse = async request => {
    await gate.promise
    healthy(request)
  }
  return { response, open: () => gate.resolve() }
}

it.concurrent('F49 two processes that share a mirror at the same time both succeed, and none requests a window twice', async () => {
  const count = 2
  const scenario = await newScenario()
  const { response, open } = gatedResponse()
  scenario.server.always(LIST, response)
  const outputs = Array.from({ length: count }, (_, index) => `x${index}.csv`)
  const started = outputs.map(output => scenario.start([...scenario.args(['-q']).slice(0, -2), output, '-q']))
  await until(() => scenario.server.requestsFor(LIST).length === count)
  open()
  for (const { running } of started) expect(await running.ended).toMatchObject({ code: 0, stderr: '', stdout: '' })
  for (const output of outputs) expect(scenario.sandbox.text(output)).toBe(scenario.expectedCsv())
  for (const path of ALL_WINDOWS) expect(scenario.server.requestsFor(path).length).toBeLessThanOrEqual(count)
  expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
  await scenario.expectRepair()
})

/** Two versions of a week's file, which differ in every row. */
const SEEDS = [0, 5] as const
const weekVersion = (seed: number) => Buffer.from(JSON.stringify(weekRows(FULL_WEEKS[2], { seed })))

/** Runs `--refresh` downloads, each after the service has changed the week's file, until `done`; at most 6 times. */
async function churn(scenario: FaultScenario, done: () => boolean): Promise<void> {
  for (let round = 1; round <= 6 && !done(); round++) {
    putFile(scenario.tree, FAULTY, weekVersion(SEEDS[round % 2]), RENDERED + 1_000 * round)
    expect((await scenario.downloadInProcess({ force: true, refresh: true })).code).toBe(0)
  }
}

describe('F50 while a download replaces files', () => {
  it.concurrent('a server returns one version or the other in full', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    const server = await startServeCommand(scenario.sandbox, ['--mirror', 'm'])
    const versions = SEEDS.map(seed => String(weekVersion(seed)))
    const seen = new Set<number>()
    let over = false
    const reading = (async () => {
      while (!over) {
        const response = await fetch(`${server.url}/${FAULTY}`)
        expect(response.status).toBe(200)
        const version = versions.indexOf(await response.text())
        expect(version, 'a version of the file').not.toBe(-1)
        seen.add(version)
      }
    })()
    await churn(scenario, () => false)
    over = true
    await reading
    expect([...seen].sort()).toEqual([0, 1])
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
    scenario.expectHealthy()
  })

  it.concurrent('an export takes the whole week from one version or the other', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    const csvOf = (seed: number) => weekRows(FULL_WEEKS[2], { seed }).map(row => row.join(','))
    const versions = SEEDS.map(seed => csvOf(seed).join('\n'))
    let over = false
    const churning = churn(scenario, () => over)
    const days = ['--from', FULL_WEEKS[2], '--to', FULL_WEEKS[3], '--mirror', 'm', '-q', '--force']
    for (let time = 0; time < 4; time++) {
      const run = await scenario.run(['export', 'BTCUSDT', '-i', '15m', ...days, '-o', 'y.csv'])
      expect(run).toMatchObject({ code: 0, stderr: '' })
      const [, ...rows] = scenario.sandbox.text('y.csv').trimEnd().split('\n')
      expect(versions).toContain(rows.join('\n'))
    }
    over = true
    await churning
  })
})

it.concurrent('F51 a mirror that is removed once during a download: nothing is exported, what is missing is named, and the next run downloads it', async () => {
  const scenario = await newScenario()
  const { response, open } = gatedResponse()
  scenario.server.script(FAULTY, response)
  const running = scenario.downloadInProcess({ concurrency: 1 })
  await until(() => scenario.server.requestsFor(FAULTY).length === 1)
  // The window before it may still be on its way to the disk.
  await until(() => existsSync(join(scenario.mirror, ALL_WINDOWS[0])))
  rmSync(scenario.mirror, { recursive: true })
  open()
  const run = await running
  expect(run.code).toBe(3)
  expect(run.stderr).toMatch(/windows are missing or corrupt, so nothing was exported/)
  expect(scenario.sandbox.exists('x.csv')).toBe(false)
  const stored = scenario.mirroredFiles()
  await scenario.expectRepair(
    ALL_WINDOWS.filter(path => !stored.includes(path)),
    { killed: true },
  )
})
