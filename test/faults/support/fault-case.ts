import { expect, it } from 'vitest'
import type { RetryPolicy } from '../../../src/http/retry.js'
import type { Run } from '../../support/cli/cli-sandbox.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, LIST, type RunOptions, WEEK } from './fault-scenario.js'
import type { FaultResponse } from './fault-server.js'

/** Tries as users have them, with hardly a pause between. */
export const SHORT_DELAYS: Partial<RetryPolicy> = { baseDelayMs: 30 }
/** What any run may take, starting Node on a busy machine included, ms. */
const BUDGET_MS = 15_000

/** One fault of one window in an otherwise healthy service, and all that is expected of a download. */
export interface FaultCase {
  /** Its number in the catalogue, and what it is. */
  readonly name: string
  /** What the window's requests are answered: these one after the other and then well; or one of them for ever. */
  readonly responses: FaultResponse | readonly FaultResponse[]
  /** Requests for the window. */
  readonly requests: number
  /** What is said of it; without this the run ends well. */
  readonly message?: RegExp
  readonly policy?: Partial<RetryPolicy>
  readonly budgetMs?: number
  /** Run by the library in this process: for rows that differ from others in what is sent alone. */
  readonly inProcess?: boolean
}

/** A test a row: a download with the fault, held to the invariants of the catalogue, and one without it. */
export function testFaults(newScenario: () => Promise<FaultScenario>, rows: readonly FaultCase[]): void {
  it.concurrent.each(rows)('$name', async row => {
    const scenario = await newScenario()
    const { responses } = row
    if (typeof responses === 'function') scenario.server.always(FAULTY, responses)
    else scenario.server.script(FAULTY, ...responses)
    const policy = { ...SHORT_DELAYS, ...row.policy }
    const run = await (row.inProcess ? scenario.downloadInProcess({ policy }) : scenario.download({ policy }))
    expect(scenario.server.requestsFor(FAULTY).length, `requests; ${run.stderr}`).toBe(row.requests)
    if (row.message) expectIncomplete(run, row.message)
    else expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.tookMs).toBeLessThan(row.budgetMs ?? BUDGET_MS)
    const lost = row.message ? [FAULTY] : []
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS.filter(path => !lost.includes(path)), LIST].sort())
    expect(scenario.outputs()).toEqual(row.message ? [] : ['x.csv'])
    if (!row.message) expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
    else await scenario.expectRepair(lost)
  })
}

/** One window of eight could not be had: exit code 3, one plain line for its cause, nothing on stdout. */
export function expectIncomplete(run: Run, message: RegExp): void {
  expect(run).toMatchObject({ code: 3, signal: null, stdout: '' })
  const lines = run.stderr.trimEnd().split('\n')
  expect(lines).toEqual([
    'klines: 1 of 8 windows could not be had, so nothing is exported:',
    expect.stringMatching(new RegExp(`^1 x .*${message.source}.*\\(BTCUSDT 15m ${WEEK}\\)$`, message.flags)),
    '  What was brought stays in the mirror; the same command asks only for the rest.',
  ])
  expect(lines[1].length).toBeLessThan(400)
  expectPlainText(run.stderr)
}

/** Nothing in a text steers a terminal or shows the insides of the program. */
export function expectPlainText(text: string): void {
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
  expect(text).not.toMatch(/^ +at .*:\d+:\d+/m)
}

/** Exit code 5 with the way on; nothing held, nothing written; and once the network is well, all is had. */
export async function expectUnreachable(
  scenario: FaultScenario,
  baseUrl: string,
  message: RegExp,
  options: RunOptions = {},
): Promise<void> {
  const run = await scenario.download({ policy: SHORT_DELAYS, baseUrl, ...options })
  expect(run).toMatchObject({ code: 5, stdout: '' })
  const [first, ...advice] = run.stderr.trimEnd().split('\n')
  expect(first).toMatch(message)
  expect(first).toMatch(/^klines: The service at \S+ cannot be reached: the list of 15m start dates: /)
  expect(advice.join('\n')).toMatch(/--base-url sample[\s\S]*klines export/)
  expect(advice).toHaveLength(2)
  expectPlainText(run.stderr)
  expect(run.tookMs).toBeLessThan(15_000)
  expect(scenario.mirroredFiles()).toEqual([])
  expect(scenario.outputs()).toEqual([])
}

/** All rows but those named are run by the library: they differ in what the codec message. */
export function runInProcessExcept(byBinary: readonly string[]): (row: FaultCase) => FaultCase {
  return row => ({ ...row, inProcess: !byBinary.includes(row.name) })
}
