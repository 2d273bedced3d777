import { type CallFault, type Task, Torture } from './torture.js'

/** Concurrent runs. */
const LANES = 2

/** The result of failing every call, one a run. */
export interface TortureFigures {
  /** Calls of a run without a fault. */
  readonly calls: number
  /** Runs with one failing call. */
  readonly checked: number
  /** Names of the calls that failed. */
  readonly names: readonly string[]
  /** Runs by their exit code. */
  readonly codes: Readonly<Record<string, number>>
}

/** Prepares as many runs of a task as are concurrent. */
export function tortureLanes(task: Task): Promise<Torture[]> {
  return Promise.all(Array.from({ length: LANES }, () => Torture.make(task)))
}

/** Fails every call of a task whose number `choose` returns, given the kinds of all calls, one a run, and checks each run. */
export async function tortureAll(
  lanes: readonly Torture[],
  fault: CallFault,
  choose: (numbers: readonly number[], kinds: readonly string[]) => readonly number[] = numbers => numbers,
): Promise<TortureFigures> {
  const kinds = await lanes[0].list(fault)
  const calls = kinds.length
  const pending = [
    ...choose(
      Array.from(kinds.keys(), index => index + 1),
      kinds,
    ),
  ]
  const checked = pending.length
  const names = new Set<string>()
  const codes: Record<string, number> = {}
  await Promise.all(
    lanes.map(async lane => {
      for (let index = pending.shift(); index !== undefined; index = pending.shift()) {
        const { name, code } = await lane.check(fault, index)
        if (name) names.add(name)
        codes[code] = (codes[code] ?? 0) + 1
      }
    }),
  )
  return { calls, checked, names: [...names].sort(), codes }
}
