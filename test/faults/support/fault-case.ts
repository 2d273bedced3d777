import { expect, it } from 'vitest'
import type { RetryPolicy } from '../../../src/sources/retry.js'
import type { Run } from '../../support/cli/cli-sandbox.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, type FaultSource, type RunOptions, WEEK } from './fault-scenario.js'
import type { FaultResponse } from './fault-server.js'

/** The default policy with hardly a pause between tries. */
export const SHORT_DELAYS: Partial<RetryPolicy> = { baseDelayMs: 30 }
export const EXCHANGE = { source: 'exchange' } as const
/** How long any run may take, ms: Node starts slowly on a busy machine. */
const BUDGET_MS = 60_000

/**
 * A fault of one window in an otherwise healthy service, and what is expected of a download: its number in the catalogue and a
 * description; the responses to the window's first requests, after which the file is served, or one response to all of them; how many
 * requests are expected; the expected error message, without which the run is expected to succeed.
 */
type FaultCase = readonly [
  name: string,
  responses: FaultResponse | readonly FaultResponse[],
  requests: number,
  message?: RegExp,
  options?: {
    readonly policy?: Partial<RetryPolicy>
    /** Whether the real program runs, in a process whose memory is checked. Default: the library, in this process. */
    readonly inChildProcess?: boolean
    /** The service. Default: a static one. */
    readonly source?: FaultSource
  },
]

/** Defines a test for each case: a download with the fault, checked against the invariants of the catalogue, and one without. */
export function testFaults(
  newScenario: (source?: FaultSource) => Promise<FaultScenario>,
  cases: readonly FaultCase[],
): void {
  // What is not stored is downloaded by the next run, whatever the fault was.
  const repaired = cases.find(([, , , message]) => message)
  it.concurrent.for(cases)('%s', async one => {
    const [, responses, requests, message, options = {}] = one
    const scenario = await newScenario(options.source)
    if (typeof responses === 'function') scenario.server.always(FAULTY, responses)
    else scenario.server.script(FAULTY, ...responses)
    const policy = { ...SHORT_DELAYS, ...options.policy }
    const run = await (options.inChildProcess
      ? scenario.download({ policy, inChildProcess: true })
      : scenario.downloadInProcess({ policy }))
    expect(scenario.server.requestsFor(FAULTY).length, `requests; ${run.stderr}`).toBe(requests)
    if (message) expectIncomplete(run, message)
    else expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.tookMs).toBeLessThan(BUDGET_MS)
    const lost = message ? [FAULTY] : []
    expect(scenario.mirroredFiles()).toEqual(
      [...ALL_WINDOWS.filter(path => !lost.includes(path)), ...scenario.lists].sort(),
    )
    expect(scenario.outputs()).toEqual(message ? [] : ['x.csv'])
    if (!message) expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
    else if (one === repaired) await scenario.expectRepair(lost)
  })
}

/** Expects that one window of eight could not be downloaded: exit code 3, one line for its cause, nothing on stdout. */
function expectIncomplete(run: Run, message: RegExp): void {
  expect(run).toMatchObject({ code: 3, signal: null, stdout: '' })
  const lines = run.stderr.trimEnd().split('\n')
  expect(lines).toEqual([
    'klines: 1 of 8 windows could not be downloaded, so nothing was exported:',
    expect.stringMatching(new RegExp(`^1 x .*${message.source}.*\\(BTCUSDT 15m ${WEEK}\\)$`, message.flags)),
    '  The mirror keeps what was downloaded; run the same command again to download the rest.',
  ])
  expect(lines[1].length).toBeLessThan(400)
  expectPlainText(run.stderr)
}

/** Expects no terminal control characters and no stack trace in a text. */
export function expectPlainText(text: string): void {
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
  expect(text).not.toMatch(/^ +at .*:\d+:\d+/m)
}

/** Expects exit code 5 with suggestions, and that not even the mirror's folder is made. */
export async function expectUnreachable(
  scenario: FaultScenario,
  baseUrl: string,
  message: RegExp,
  { advice: named = /--base-url/, ...options }: RunOptions & { readonly advice?: RegExp } = {},
): Promise<void> {
  const run = await scenario.download({ policy: SHORT_DELAYS, baseUrl, ...options })
  expect(run).toMatchObject({ code: 5, stdout: '' })
  const [first, ...advice] = run.stderr.trimEnd().split('\n')
  expect(first).toMatch(message)
  expect(first).toMatch(
    /^klines: The (?:service|exchange) at \S+ (cannot be reached: |answered \d{3} |did not answer |sent a response )/,
  )
  expect(advice.join('\n')).toMatch(/--base-url[\s\S]*klines export/)
  expect(advice[0]).toMatch(named)
  expect(advice).toHaveLength(2)
  expectPlainText(run.stderr)
  expect(run.tookMs).toBeLessThan(BUDGET_MS)
  expect(scenario.sandbox.exists('m')).toBe(false)
  expect(scenario.outputs()).toEqual([])
}
