import { type CallFault, type Task, Torture } from './torture.js'

/** Runs side by side. */
const LANES = 2

/** What came of failing one call after the other. */
export interface TortureFigures {
  /** Calls that a run makes which is left alone. */
  readonly calls: number
  /** Runs of which one call failed. */
  readonly checked: number
  /** Names of the calls that failed. */
  readonly names: readonly string[]
  /** Runs by their exit code. */
  readonly codes: Readonly<Record<string, number>>
}

/** What runs of a task take place in, side by side. */
export function tortureLanes(task: Task): Promise<Torture[]> {
  return Promise.all(Array.from({ length: LANES }, () => Torture.make(task)))
}

/** Makes every call of a task fail, one a run; `choose` leaves some out. Fails when a promise is broken. */
export async function tortureAll(
  lanes: readonly Torture[],
  fault: CallFault,
  choose: (all: readonly number[]) => readonly number[] = all => all,
): Promise<TortureFigures> {
  const calls = await lanes[0].count(fault)
  const todo = [...choose(Array.from({ length: calls }, (_, index) => index + 1))]
  const checked = todo.length
  const names = new Set<string>()
  const codes: Record<string, number> = {}
  await Promise.all(
    lanes.map(async lane => {
      for (let at = todo.shift(); at !== undefined; at = todo.shift()) {
        const { name, code } = await lane.check(fault, at)
        if (name) names.add(name)
        codes[code] = (codes[code] ?? 0) + 1
      }
    }),
  )
  return { calls, checked, names: [...names].sort(), codes }
}
