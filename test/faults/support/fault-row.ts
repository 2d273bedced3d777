import { expect, it } from 'vitest'
import type { RetryPolicy } from '../../../src/http/retry.js'
import type { Run } from '../../support/cli/cli-sandbox.js'
import { ALL_WINDOWS, FAULTY, LIST, type Place, type RunOptions, WEEK } from './fault-scenario.js'
import type { FaultAnswer } from './fault-server.js'

/** Tries as users have them, with hardly a pause between. */
export const HASTY: Partial<RetryPolicy> = { baseDelayMs: 30 }
/** What any run may take, starting Node on a busy machine included, ms. */
const BUDGET_MS = 15_000

/** One fault of one window in an otherwise healthy service, and all that is expected of a download. */
export interface FaultRow {
  /** Its number in the catalogue, and what it is. */
  readonly name: string
  /** What the window's requests are answered: these one after the other and then well; or one of them for ever. */
  readonly answers: FaultAnswer | readonly FaultAnswer[]
  /** Requests for the window. */
  readonly asks: number
  /** What is said of it; without this the run ends well. */
  readonly says?: RegExp
  readonly policy?: Partial<RetryPolicy>
  readonly budgetMs?: number
  /** Run by the library in this process: for rows that differ from others in what is sent alone. */
  readonly byLibrary?: boolean
}

/** A test a row: a download with the fault, held to the invariants of the catalogue, and one without it. */
export function checkRows(newPlace: () => Promise<Place>, rows: readonly FaultRow[]): void {
  it.concurrent.each(rows)('$name', async row => {
    const place = await newPlace()
    const { answers } = row
    if (typeof answers === 'function') place.server.always(FAULTY, answers)
    else place.server.script(FAULTY, ...answers)
    const policy = { ...HASTY, ...row.policy }
    const run = await (row.byLibrary ? place.downloadByLibrary({ policy }) : place.download({ policy }))
    expect(place.server.asked(FAULTY).length, `requests; ${run.stderr}`).toBe(row.asks)
    if (row.says) expectIncomplete(run, row.says)
    else expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.tookMs).toBeLessThan(row.budgetMs ?? BUDGET_MS)
    const lost = row.says ? [FAULTY] : []
    expect(place.held()).toEqual([...ALL_WINDOWS.filter(path => !lost.includes(path)), LIST].sort())
    expect(place.outputs()).toEqual(row.says ? [] : ['x.csv'])
    if (!row.says) expect(place.desk.text('x.csv')).toBe(place.csv())
    else await place.expectRepair(lost)
  })
}

/** One window of eight could not be had: exit code 3, one plain line for its cause, nothing on stdout. */
export function expectIncomplete(run: Run, says: RegExp): void {
  expect(run).toMatchObject({ code: 3, signal: null, stdout: '' })
  const lines = run.stderr.trimEnd().split('\n')
  expect(lines).toEqual([
    'klines: 1 of 8 windows could not be had, so nothing is exported:',
    expect.stringMatching(new RegExp(`^1 x .*${says.source}.*\\(BTCUSDT 15m ${WEEK}\\)$`, says.flags)),
    '  What was brought stays in the mirror; the same command asks only for the rest.',
  ])
  expect(lines[1].length).toBeLessThan(400)
  expectPlain(run.stderr)
}

/** Nothing in a text steers a terminal or shows the insides of the program. */
export function expectPlain(text: string): void {
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
  expect(text).not.toMatch(/^ +at .*:\d+:\d+/m)
}

/** Exit code 5 with the way on; nothing held, nothing written; and once the network is well, all is had. */
export async function expectAway(place: Place, baseUrl: string, says: RegExp, options: RunOptions = {}): Promise<void> {
  const run = await place.download({ policy: HASTY, baseUrl, ...options })
  expect(run).toMatchObject({ code: 5, stdout: '' })
  const [first, ...advice] = run.stderr.trimEnd().split('\n')
  expect(first).toMatch(says)
  expect(first).toMatch(/^klines: The service at \S+ cannot be reached: the list of 15m start dates: /)
  expect(advice.join('\n')).toMatch(/--base-url sample[\s\S]*klines export/)
  expect(advice).toHaveLength(2)
  expectPlain(run.stderr)
  expect(run.tookMs).toBeLessThan(15_000)
  expect(place.held()).toEqual([])
  expect(place.outputs()).toEqual([])
}

/** All rows but those named are run by the library: they differ in what the codec says. */
export function inLibrary(byBinary: readonly string[]): (row: FaultRow) => FaultRow {
  return row => ({ ...row, byLibrary: !byBinary.includes(row.name) })
}
