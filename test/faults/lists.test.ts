import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { expectPlainText, SHORT_DELAYS } from './support/fault-case.js'
import { ALL_WINDOWS, type FaultScenario, LIST, SYMBOLS_LIST, useFaultScenarios } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { ok, rows } from './support/responses.js'

const newScenario = useFaultScenarios()

/** A list that must be refused. */
interface ListRow {
  readonly name: string
  readonly response: FaultResponse
  readonly message: RegExp
  /** Requests for the list. */
  readonly requests?: number
  readonly inChildProcess?: boolean
}

const mondays = (count: number) =>
  Array.from({ length: count }, (_, week) => new Date((4 + 7 * week) * 86_400_000).toISOString().slice(0, 10))

const DATES: ListRow[] = [
  {
    name: 'F29 start dates with a path out of the mirror',
    response: rows(['2024-12-30', '../../../../../../escaped']),
    message: /entry 1 is "\.\.\/\.\.\/\.\.\/\.\.\/\.\.\/\.\.\/escaped", not a date/,
    inChildProcess: true,
  },
  {
    name: 'F29 an absolute path',
    response: rows(['/tmp/escaped']),
    message: /entry 0 is "\/tmp\/escaped", not a date/,
  },
  {
    name: 'F29 a date followed by a path out of the mirror',
    response: rows(['2025-01-06/../../escaped']),
    message: /not a date/,
  },
  { name: 'F29 a percent-encoded path out of the mirror', response: rows(['%2e%2e%2fescaped']), message: /not a date/ },
  { name: 'F29 a NUL and escape sequences', response: rows(['2025-01-06\0\u001b[2J\u009b2J']), message: /not a date/ },
  {
    name: 'F30 a quarter of a million entries',
    response: rows(Array(250_000).fill('2025-01-06')),
    message: /250000 entries, expected at most 20000/,
    inChildProcess: true,
  },
  {
    name: 'F30 half a million entries',
    response: rows(Array(500_000).fill('2025-01-06')),
    message: /6500001 bytes, expected at most 4194304/,
  },
  {
    name: 'F30 five million arrays, compressed',
    response: ok(gzipSync(`[${'[],'.repeat(5_500_000)}[]]`), 'Content-Encoding: gzip'),
    message: /16500004 bytes, expected at most 4194304/,
    inChildProcess: true,
  },
  {
    name: 'F30 a list of 13 MB',
    response: rows(Array(1_000_000).fill('2025-01-06')),
    message: /larger than 8388608 bytes/,
    requests: 1,
  },
  { name: 'F30 20,001 valid dates', response: rows(mondays(20_001)), message: /20001 entries|not a date/ },
  {
    name: 'F31 a duplicate date',
    response: rows(['2025-01-06', '2025-01-06']),
    message: /entry 1 is 2025-01-06, which does not come after/,
  },
  {
    name: 'F31 dates out of order',
    response: rows(['2025-01-13', '2025-01-06']),
    message: /entry 1 is 2025-01-06, which does not come after/,
  },
  {
    name: 'F31 a day that does not exist',
    response: rows(['2025-02-30']),
    message: /entry 0 is "2025-02-30", not a date/,
  },
  {
    name: 'F31 a day on which no window starts',
    response: rows(['2025-01-07']),
    message: /no window of 7 days starts/,
  },
  { name: 'F31 a number', response: rows([20250106]), message: /entry 0 is not a string/ },
  { name: 'F31 an object', response: ok('{"__proto__":["2025-01-06"]}'), message: /not an array/ },
]

const NAMES: ListRow[] = [
  {
    name: 'F29 symbols with a path out of the mirror',
    response: rows(['BTCUSDT', '../../escaped']),
    message: /entry 1 is "\.\.\/\.\.\/escaped", not a symbol/,
    inChildProcess: true,
  },
  {
    name: 'F29 a symbol with terminal control characters',
    response: rows(['\u009b2J\u001b[2J\u202e']),
    message: /entry 0 is .*not a symbol/,
  },
  {
    name: 'F30 four hundred thousand symbols',
    response: rows(Array(400_000).fill('AAUSDT')),
    message: /400000 entries, expected at most 20000/,
  },
  { name: 'F31 a name in lower case', response: rows(['btcusdt']), message: /entry 0 is "btcusdt", not a symbol/ },
  {
    name: 'F31 the name __proto__',
    response: rows(['__proto__']),
    message: /entry 0 is "__proto__", not a symbol/,
  },
  { name: 'F31 no symbols', response: rows([]), message: /it is empty/, requests: 1 },
]

/** Expects that a hostile list is refused: no window is requested, and no file is created for it anywhere. */
async function expectRefusal(
  scenario: FaultScenario,
  path: string,
  { response, message, requests = 3, inChildProcess }: ListRow,
  all: boolean,
) {
  scenario.server.always(path, response)
  const args = scenario.args().map(arg => (all && arg === 'BTCUSDT' ? 'all' : arg))
  const run = inChildProcess
    ? await scenario.run(args, { policy: SHORT_DELAYS })
    : await scenario.downloadInProcess({ all, policy: SHORT_DELAYS })
  expect(run).toMatchObject({ stdout: '' })
  expect([3, 5]).toContain(run.code)
  expect(run.stderr).toMatch(message)
  expect(run.stderr.length).toBeLessThan(1_000)
  expectPlainText(run.stderr)
  expect(scenario.server.log.map(request => request.path)).toEqual(Array(requests).fill(path))
  expect(scenario.sandbox.exists('m')).toBe(false)
  expect(scenario.outputs()).toEqual([])
  expect(scenario.strayFiles()).toEqual([])
  await scenario.expectRepair(ALL_WINDOWS)
}

describe('a hostile list of start dates', () => {
  it.concurrent.each(DATES)('$name', async row => expectRefusal(await newScenario(), LIST, row, false))
})

describe('a hostile list of symbols', () => {
  it.concurrent.each(NAMES)('$name', async row => expectRefusal(await newScenario(), SYMBOLS_LIST, row, true))

  it.concurrent('F31 repeated symbols count once, and those that are not listed are reported', async () => {
    const scenario = await newScenario()
    scenario.server.always(SYMBOLS_LIST, rows(['ETHUSDT', 'BTCUSDT', 'BTCUSDT']))
    const run = await scenario.run(['download', 'all', '-i', '15m', '--base-url', scenario.server.url, '--mirror', 'm'])
    expect(run.code).toBe(0)
    expect(run.stderr).toBe(
      'Note: Not listed by the service, so not part of "all": BNBUSDT, SOLUSDT, XRPUSDT and 5 more.\n',
    )
    expect(new Set(scenario.server.windowRequests()).size).toBe(2 * ALL_WINDOWS.length)
    expect(scenario.server.windowRequests()).toHaveLength(2 * ALL_WINDOWS.length)
  })
})
