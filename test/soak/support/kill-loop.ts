import { setTimeout as sleep } from 'node:timers/promises'
import type { Run, Running } from '../../support/cli/cli-sandbox.js'

/** One kill in so many falls anywhere in a run, also before it writes. */
const ANYWHERE_EVERY = 8

/** Runs that are killed. */
export interface KillLoop {
  readonly kills: number
  readonly random: () => number
  /** Starts a run; `round` counts from 0. */
  readonly start: (round: number) => Running
  /** How much there is left to write for a run, 0 to 1. Default: all. */
  readonly left?: () => number
  /** Whether the run has begun to write. */
  readonly hasBegun: () => boolean
  /** Looks at what a run left; `killed` is false for one that ended before it was to be killed. */
  readonly inspect: (killed: boolean, run: Run) => void | Promise<void>
}

/** How long a run takes until it begins to write, and from there to its end. */
interface Pace {
  beginMs: number
  writeMs: number
}

/**
 * Kills runs with their process groups, at times drawn evenly over the part in which they write (its length is measured
 * first, from a run that is left alone), until so many were killed while they ran. Gives the number of runs.
 */
export async function killLoop({ kills, random, start, left = () => 1, hasBegun, inspect }: KillLoop): Promise<number> {
  const pace = await measure(start(0), hasBegun)
  await inspect(false, pace.run)
  let killed = 0
  for (let round = 1; killed < kills; round++) {
    if (round > 4 * kills + 20) throw new Error(`Only ${killed} of ${round} runs could be killed before they ended.`)
    const running = start(round)
    if (round % ANYWHERE_EVERY === 0) await sleep(random() * (pace.beginMs + pace.writeMs))
    else if (await begun(running, hasBegun)) await sleep(random() * left() * pace.writeMs)
    killGroup(running)
    const run = await running.ended
    if (run.signal === 'SIGKILL') killed++
    await inspect(run.signal === 'SIGKILL', run)
    if (killed === kills) return round + 1
  }
  return 1
}

/** Ends a run and all it has started, at once; it may have ended meanwhile. */
export function killGroup({ child }: Running): void {
  try {
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  } catch {}
}

/** Waits until a run writes; false when it ended first. */
export async function begun({ child }: Running, hasBegun: () => boolean): Promise<boolean> {
  while (!hasBegun()) {
    if (child.exitCode !== null || child.signalCode !== null) return false
    await sleep(1)
  }
  return true
}

/** How a run that is left alone goes. */
export async function measure(running: Running, hasBegun: () => boolean): Promise<Pace & { run: Run }> {
  const started = performance.now()
  await begun(running, hasBegun)
  const beginMs = performance.now() - started
  const run = await running.ended
  return { beginMs, writeMs: performance.now() - started - beginMs, run }
}
