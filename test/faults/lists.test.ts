import { describe, expect, it } from 'vitest'
import { expectPlainText, SHORT_DELAYS } from './support/fault-case.js'
import { ALL_WINDOWS, type FaultScenario, LIST, SYMBOLS_LIST, useFaultScenarios } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { ok, rows } from './support/responses.js'

const newScenario = useFaultScenarios()

/** A list that must be refused: its name, the response, the message, and how many requests for it there are. */
type ListRow = [name: string, response: FaultResponse, message: RegExp, requests?: number]

const DATES: ListRow[] = [
  [
    'F29 a path out of the mirror',
    rows(['2024-12-30', '../../../escaped']),
    /entry 1 is "\.\.\/.*\/escaped"\. Expected a later day/,
  ],
  ['F29 an absolute path', rows(['/tmp/escaped']), /entry 0 is "\/tmp\/escaped"\. Expected/],
  ['F29 a NUL and escape sequences', rows(['2025-01-06\0\u001b[2J\u009b2J']), /entry 0 is "2025-01-06\\u0000\\u001b/],
  ['F30 a list of 13 MB', rows(Array(1_000_000).fill('2025-01-06')), /larger than 8388608 bytes/, 1],
  ['F31 dates out of order', rows(['2025-01-13', '2025-01-06']), /entry 1 is "2025-01-06"\. Expected a later day/],
  ['F31 a day on which no window starts', rows(['2025-01-07']), /on which a window of 7 days starts/],
  ['F31 an object', ok('{"__proto__":["2025-01-06"]}'), /not an array/],
]

const NAMES: ListRow[] = [
  [
    'F29 symbols with a path out of the mirror',
    rows(['BTCUSDT', '../../escaped']),
    /entry 1 is "\.\..*", not a symbol/,
  ],
  ['F29 a symbol with control characters', rows(['\u009b2J\u001b[2J\u202e']), /entry 0 is .*not a symbol/],
  ['F31 a name in lower case', rows(['btcusdt']), /entry 0 is "btcusdt", not a symbol/],
  ['F31 no symbols', rows([]), /it is empty/, 1],
]

/** Expects that a hostile list is refused: no window is requested, and no file is created for it anywhere. */
async function expectRefusal(
  scenario: FaultScenario,
  path: string,
  [, response, message, requests = 3]: ListRow,
  all: boolean,
) {
  scenario.server.always(path, response)
  const run = await scenario.downloadInProcess({ all, policy: SHORT_DELAYS })
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

describe('a hostile list', () => {
  it.concurrent.each(DATES)('%s', async (...row) => expectRefusal(await newScenario(), LIST, row, false))
  it.concurrent.each(NAMES)('%s', async (...row) => expectRefusal(await newScenario(), SYMBOLS_LIST, row, true))

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
