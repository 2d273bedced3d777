import { type CallFault, type Task, Torture } from './torture.js'

/** Runs side by side. */
const LANES = 2

/** What came of failing one call after the other. */
export interface TortureFigures {
  /** Calls that a run makes which is left alone. */
  readonly calls: number
  /** Runs of which one call failed. */
  readonly checked: number
  /** Calls of so many names failed. */
  readonly kinds: number
  /** Runs by their exit code. */
  readonly codes: Readonly<Record<string, number>>
}

/** Makes every call of a task fail, one a run; `choose` leaves some out. Fails when a promise is broken. */
export async function tortureAll(
  task: Task,
  fault: CallFault,
  choose: (all: readonly number[]) => readonly number[] = all => all,
): Promise<TortureFigures> {
  const lanes = await Promise.all(Array.from({ length: LANES }, () => Torture.make(task)))
  const calls = await lanes[0].count(fault)
  const todo = [...choose(Array.from({ length: calls }, (_, index) => index + 1))]
  const checked = todo.length
  await Promise.all(
    lanes.map(async lane => {
      for (let at = todo.shift(); at !== undefined; at = todo.shift()) await lane.check(fault, at)
    }),
  )
  const codes: Record<string, number> = {}
  for (const lane of lanes) {
    for (const [code, count] of Object.entries(lane.codes)) codes[code] = (codes[code] ?? 0) + count
  }
  const kinds = new Set(lanes.flatMap(lane => Object.keys(lane.failed))).size
  return { calls, checked, kinds, codes }
}
