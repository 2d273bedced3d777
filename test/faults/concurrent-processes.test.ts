import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deferred, until } from '../support/deferred.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { FULL_WEEKS, putFile, RENDERED, weekPath, weekRows } from '../support/synthetic-tree.js'
import {
  ALL_WINDOWS,
  FAULTY,
  type FaultScenario,
  LIST,
  OPEN_WINDOWS,
  useFaultScenarios,
} from './support/fault-scenario.js'
import { type FaultResponse, healthy } from './support/fault-server.js'
import { reply } from './support/responses.js'

const newScenario = useFaultScenarios()

/** The healthy answer, once somebody message so. */
function gated(): { answer: FaultResponse; open: () => void } {
  const gate = deferred()
  const answer: FaultResponse = async exchange => {
    await gate.promise
    healthy(exchange)
  }
  return { answer, open: () => gate.resolve() }
}

describe('F49 processes that share a mirror', () => {
  it.concurrent.each([2, 4])('%d at the same time all end right, and ask for no window twice each', async count => {
    const scenario = await newScenario()
    const { answer, open } = gated()
    scenario.server.always(LIST, answer)
    const outputs = Array.from({ length: count }, (_, index) => `x${index}.csv`)
    const started = outputs.map(output => scenario.start([...scenario.args(['-q']).slice(0, -2), output, '-q']))
    await until(() => scenario.server.requestsFor(LIST).length === count, 40_000)
    open()
    for (const { running } of started) expect(await running.ended).toMatchObject({ code: 0, stderr: '', stdout: '' })
    for (const output of outputs) expect(scenario.sandbox.text(output)).toBe(scenario.expectedCsv())
    for (const path of ALL_WINDOWS) expect(scenario.server.requestsFor(path).length).toBeLessThanOrEqual(count)
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
    await scenario.expectRepair()
  })
})

/** Two versions of the file of a week: all rows are of one or all of the other. */
const SEEDS = [0, 5] as const
const weekOf = (seed: number) => Buffer.from(JSON.stringify(weekRows(FULL_WEEKS[2], { seed })))

/** Runs `--refresh` downloads over a service that changes its mind about a week until `done`, at most 12 times. */
async function churn(scenario: FaultScenario, done: () => boolean): Promise<void> {
  for (let round = 1; round <= 12 && !done(); round++) {
    putFile(scenario.tree, FAULTY, weekOf(SEEDS[round % 2]), RENDERED + 1_000 * round)
    expect((await scenario.downloadInProcess({ force: true, refresh: true })).code).toBe(0)
  }
}

describe('F50 while a download replaces files', () => {
  it.concurrent('a server gives one version or the other, whole', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    const server = await startServeCommand(scenario.sandbox, ['--mirror', 'm'])
    const versions = SEEDS.map(seed => String(weekOf(seed)))
    const seen = new Set<number>()
    let over = false
    const reading = (async () => {
      for (let reads = 0; reads < 5_000 && !over; reads++) {
        const answer = await fetch(`${server.url}/${FAULTY}`)
        expect(answer.status).toBe(200)
        const version = versions.indexOf(await answer.text())
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

  it.concurrent('an export has each week from one version or the other, whole', async () => {
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

describe('F51 while a download runs, its mirror is cleared', () => {
  it.concurrent('in the middle: the run ends right, the export is whole, and the next run has the rest', async () => {
    const scenario = await newScenario()
    const { answer, open } = gated()
    scenario.server.script(FAULTY, answer)
    const { running } = scenario.start(scenario.args(['--concurrency', '1', '-q']))
    await until(() => scenario.server.requestsFor(FAULTY).length === 1, 40_000)
    const clear = await scenario.run(['mirror', 'clear', '--mirror', 'm', '--force'])
    expect(clear).toMatchObject({ code: 0, stderr: '' })
    expect(scenario.mirroredFiles()).toEqual([])
    open()
    expect(await running.ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
    const held = scenario.mirroredFiles()
    await scenario.expectRepair([...ALL_WINDOWS.filter(path => !held.includes(path)), ...OPEN_WINDOWS])
  })

  it.concurrent('over and over: no file is torn, whatever stands at the end', async () => {
    const scenario = await newScenario()
    let running = true
    const clearing = (async () => {
      for (let time = 0; time < 8 && running; time++) {
        const clear = await scenario.run(['mirror', 'clear', '--mirror', 'm', '--force'])
        // There may be none at the moment.
        expect([0, 3]).toContain(clear.code)
      }
    })()
    for (let time = 0; time < 3; time++) {
      const run = await scenario.download({ args: ['--force', '-q'] })
      expect(run).toMatchObject({ code: 0, stderr: '' })
      expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
    }
    running = false
    await clearing
    const held = scenario.mirroredFiles()
    expect(held.every(name => readFileSync(join(scenario.tree, name)).length > 0)).toBe(true)
    await scenario.expectRepair(ALL_WINDOWS.filter(path => !held.includes(path)))
  })
})

it.concurrent('F49 one that is told to stop does not stop the other', async () => {
  const scenario = await newScenario()
  const { answer, open } = gated()
  scenario.server.script(weekPath('BTCUSDT', FULL_WEEKS[0]), reply('404 X', [], ''), answer)
  const first = scenario.start([...scenario.args().slice(0, -1), 'a.csv'])
  expect((await first.running.ended).code).toBe(3)
  const second = scenario.start([...scenario.args().slice(0, -1), 'b.csv'])
  open()
  expect((await second.running.ended).code).toBe(0)
  expect(scenario.sandbox.text('b.csv')).toBe(scenario.expectedCsv())
  expect(scenario.outputs()).toEqual(['b.csv'])
})
