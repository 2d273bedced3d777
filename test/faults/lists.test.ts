import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { filesBelow } from '../support/cli/cli-sandbox.js'
import { expectPlainText, SHORT_DELAYS } from './support/fault-case.js'
import { ALL_WINDOWS, type FaultScenario, LIST, SYMBOLS_LIST, useFaultScenarios } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { ok, rows } from './support/responses.js'

const newScenario = useFaultScenarios()

/** A list that is not to be believed. */
interface ListRow {
  readonly name: string
  readonly answer: FaultResponse
  readonly message: RegExp
  /** Requests for the list. */
  readonly requests?: number
  readonly byBinary?: boolean
}

const mondays = (count: number) =>
  Array.from({ length: count }, (_, week) => new Date((4 + 7 * week) * 86_400_000).toISOString().slice(0, 10))

const DATES: ListRow[] = [
  {
    name: 'F29 start dates that lead out of the mirror',
    answer: rows(['2024-12-30', '../../../../../../escaped']),
    message: /entry 1 is "\.\.\/\.\.\/\.\.\/\.\.\/\.\.\/\.\.\/escaped", not a date/,
    byBinary: true,
  },
  { name: 'F29 an absolute path', answer: rows(['/tmp/escaped']), message: /entry 0 is "\/tmp\/escaped", not a date/ },
  { name: 'F29 a date and a way out', answer: rows(['2025-01-06/../../escaped']), message: /not a date/ },
  { name: 'F29 a way out in percent signs', answer: rows(['%2e%2e%2fescaped']), message: /not a date/ },
  { name: 'F29 a NUL and escape sequences', answer: rows(['2025-01-06\0\u001b[2J\u009b2J']), message: /not a date/ },
  {
    name: 'F30 a quarter of a million entries',
    answer: rows(Array(250_000).fill('2025-01-06')),
    message: /250000 entries, expected at most 20000/,
    byBinary: true,
  },
  {
    name: 'F30 half a million entries',
    answer: rows(Array(500_000).fill('2025-01-06')),
    message: /6500001 bytes, expected at most 4194304/,
  },
  {
    name: 'F30 five million arrays in little space',
    answer: ok(gzipSync(`[${'[],'.repeat(5_500_000)}[]]`), 'Content-Encoding: gzip'),
    message: /16500004 bytes, expected at most 4194304/,
    byBinary: true,
  },
  {
    name: 'F30 a list of 13 MB',
    answer: rows(Array(1_000_000).fill('2025-01-06')),
    message: /larger than 8388608 bytes/,
    requests: 1,
  },
  { name: 'F30 20,001 dates, all sound', answer: rows(mondays(20_001)), message: /20001 entries|not a date/ },
  {
    name: 'F31 a date twice',
    answer: rows(['2025-01-06', '2025-01-06']),
    message: /entry 1 is 2025-01-06, which does not come after/,
  },
  {
    name: 'F31 disorder',
    answer: rows(['2025-01-13', '2025-01-06']),
    message: /entry 1 is 2025-01-06, which does not come after/,
  },
  { name: 'F31 a day there is not', answer: rows(['2025-02-30']), message: /entry 0 is "2025-02-30", not a date/ },
  { name: 'F31 a day on which no window starts', answer: rows(['2025-01-07']), message: /no window of 7 days starts/ },
  { name: 'F31 a number', answer: rows([20250106]), message: /entry 0 is not a string/ },
  { name: 'F31 an object', answer: ok('{"__proto__":["2025-01-06"]}'), message: /not an array/ },
]

const NAMES: ListRow[] = [
  {
    name: 'F29 symbols that lead out of the mirror',
    answer: rows(['BTCUSDT', '../../escaped']),
    message: /entry 1 is "\.\.\/\.\.\/escaped", not a symbol/,
    byBinary: true,
  },
  {
    name: 'F29 a symbol that would steer the terminal',
    answer: rows(['\u009b2J\u001b[2J\u202e']),
    message: /entry 0 is .*not a symbol/,
  },
  {
    name: 'F30 four hundred thousand symbols',
    answer: rows(Array(400_000).fill('AAUSDT')),
    message: /400000 entries, expected at most 1000/,
  },
  { name: 'F31 odd names', answer: rows(['btcusdt']), message: /entry 0 is "btcusdt", not a symbol/ },
  {
    name: 'F31 the name of all there is',
    answer: rows(['__proto__']),
    message: /entry 0 is "__proto__", not a symbol/,
  },
  { name: 'F31 none', answer: rows([]), message: /none that this version knows/, requests: 1 },
]

/** What a hostile list must not do: no window is asked for, and nothing is made for it anywhere. */
async function expectRefusal(
  scenario: FaultScenario,
  path: string,
  { answer, message, requests = 3, byBinary }: ListRow,
  all: boolean,
) {
  scenario.server.always(path, answer)
  const args = scenario.args().map(arg => (all && arg === 'BTCUSDT' ? 'all' : arg))
  const run = byBinary
    ? await scenario.run(args, { policy: SHORT_DELAYS })
    : await scenario.downloadInProcess({ all, policy: SHORT_DELAYS })
  expect(run).toMatchObject({ stdout: '' })
  expect([3, 5]).toContain(run.code)
  expect(run.stderr).toMatch(message)
  expect(run.stderr.length).toBeLessThan(1_000)
  expectPlainText(run.stderr)
  expect(scenario.server.log.map(one => one.path)).toEqual(Array(requests).fill(path))
  const held = filesBelow(scenario.mirror).filter(name => name !== path)
  expect(held).toEqual(['CACHEDIR.TAG', 'mirror.json'])
  expect(scenario.outputs()).toEqual([])
  expect(scenario.strayFiles()).toEqual([])
  await scenario.expectRepair(ALL_WINDOWS)
}

describe('a hostile list of start dates', () => {
  it.concurrent.each(DATES)('$name', async row => expectRefusal(await newScenario(), LIST, row, false))
})

describe('a hostile list of symbols', () => {
  it.concurrent.each(NAMES)('$name', async row => expectRefusal(await newScenario(), SYMBOLS_LIST, row, true))

  it.concurrent('F31 names this version does not know are named, and the others had', async () => {
    const scenario = await newScenario()
    scenario.server.always(SYMBOLS_LIST, rows(['PEPEUSDT', 'ETHUSDT', 'BTCUSDT', 'BTCUSDT']))
    const run = await scenario.run(['download', 'all', '-i', '15m', '--base-url', scenario.server.url, '--mirror', 'm'])
    expect(run.code).toBe(0)
    expect(run.stderr).toBe('Note: Symbols this version does not know are left out: PEPEUSDT.\n')
    expect(new Set(scenario.server.windowRequests()).size).toBe(2 * ALL_WINDOWS.length)
    expect(scenario.server.windowRequests()).toHaveLength(2 * ALL_WINDOWS.length)
  })
})
