import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../support/cases.js'
import { putFile, START_DATES, weekPath } from '../support/synthetic-tree.js'
import {
  ALL_WINDOWS,
  type FaultScenario,
  LIST,
  STORED_LIST,
  STORED_SYMBOLS,
  SYMBOLS_LIST,
  useFaultScenarios,
} from './support/fault-scenario.js'
import { rows } from './support/responses.js'

const newScenario = useFaultScenarios()
const without = (...dates: readonly string[]) => START_DATES.filter(date => !dates.includes(date))

/** A list, and the dates that it lacks. */
const SHORT: readonly [string, readonly string[], readonly string[]][] = [
  ['its middle entry', without('2025-01-20'), ['2025-01-20']],
  ['all but the first three', START_DATES.slice(0, 3), START_DATES.slice(3)],
  ['the present', without('2025-02-10', '2025-02-17'), ['2025-02-10', '2025-02-17']],
  ['every entry', [], START_DATES],
]

async function expectRefused(scenario: FaultScenario, list: string, missing: readonly string[], all = false) {
  scenario.server.log.length = 0
  const before = scenario.sandbox.exists('m') ? scenario.mirroredFiles() : []
  const run = await scenario.downloadInProcess({ all, force: true })
  expect(run.code).toBe(3)
  const [head] = run.stderr.split('\n')
  expect(head).toContain(`The list of ${list} of ${scenario.server.url} is incomplete: it lacks ${missing[0]}`)
  if (missing.length <= 3) expect(head).toContain(missing.join(', '))
  else expect(head).toContain(`and ${missing.length - 3} more`)
  expect(scenario.server.windowRequests()).toEqual([])
  expect(scenario.mirroredFiles()).toEqual(before)
}

describe('F59 a list of start dates that lacks', () => {
  it.concurrent.each(SHORT)('%s is incomplete, and nothing is downloaded or left out', async (_, list, missing) => {
    const scenario = await newScenario()
    scenario.server.always(LIST, rows(list))
    await expectRefused(scenario, '15m start dates', missing)
    await scenario.expectRepair(ALL_WINDOWS)
  })

  it.concurrent('entries of a mirror whose own list is lost is held against the cached windows', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    scenario.sandbox.write(`m/${STORED_LIST}`, '[]')
    scenario.server.always(LIST, rows(START_DATES.slice(0, -1)))
    const run = await scenario.downloadInProcess({ force: true })
    expect(run.code).toBe(3)
    expect(run.stderr).toContain(`it lacks ${START_DATES.at(-1)}.`)
  })

  it.concurrent('entries of a list that lies in the tree, as earlier builds left it', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    const later = [...START_DATES, '2025-02-24']
    rmSync(join(scenario.mirror, STORED_LIST))
    putFile(scenario.mirror, LIST, later)
    const run = await scenario.downloadInProcess({ force: true })
    expect(run.code).toBe(3)
    expect(run.stderr).toContain('it lacks 2025-02-24.')
  })

  it.concurrent('what this version knows, because the service begins later, earlier or goes on, is complete', async () => {
    for (const list of [
      START_DATES.slice(2),
      ['2024-12-16', '2024-12-23', ...START_DATES, '2025-02-24', '2025-03-03'],
    ]) {
      const scenario = await newScenario()
      scenario.server.always(LIST, rows(list))
      for (const week of ['2024-12-16', '2024-12-23']) {
        scenario.server.always(weekPath('BTCUSDT', week), rows([]))
      }
      expect(await scenario.downloadInProcess()).toMatchObject({ code: 0, stderr: '' })
    }
  })

  it('any entries that are known is never silent, and lacks no candle', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    const numRuns = cases(100, 12)
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.subarray(START_DATES, { maxLength: START_DATES.length - 1 }), async list => {
        scenario.server.heal()
        scenario.server.always(LIST, rows(list))
        const stored = readFileSync(join(scenario.mirror, STORED_LIST), 'utf8')
        const run = await scenario.downloadInProcess({ force: true })
        const [first = ''] = list
        const [missing] = START_DATES.filter(date => date >= first && !list.includes(date))
        expect(run.code).toBe(missing ? 3 : 0)
        expect(run.stderr).toContain(missing ?? `begins with ${first}`)
        if (missing) expect(readFileSync(join(scenario.mirror, STORED_LIST), 'utf8')).toBe(stored)
        expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
        runs++
      }),
      { numRuns },
    )
    expect(runs).toBeGreaterThanOrEqual(numRuns)
    await scenario.expectRepair()
  })
})

describe('F59 a list of symbols', () => {
  it.concurrent('that lacks a cached symbol is exit 3 with its name, and the others are done', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess({ all: true })).code).toBe(0)
    scenario.server.always(SYMBOLS_LIST, rows(['BTCUSDT']))
    await expectRefusedSymbols(scenario)
    scenario.sandbox.write(`m/${STORED_SYMBOLS}`, '[]')
    await expectRefusedSymbols(scenario)
  })

  async function expectRefusedSymbols(scenario: FaultScenario) {
    const run = await scenario.downloadInProcess({ all: true, force: true })
    expect(run.code).toBe(3)
    expect(run.stderr).toContain('does not know ETHUSDT any more; everything else is done.')
  }
})
