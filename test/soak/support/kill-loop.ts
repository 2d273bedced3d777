import { setTimeout as sleep } from 'node:timers/promises'
import type { Run, Running } from '../../support/cli/cli-sandbox.js'

/** One kill in so many may strike anywhere in a run, even before it writes. */
const ANYWHERE_EVERY = 8

/** Settings of a kill loop. */
export interface KillLoop {
  readonly kills: number
  readonly random: () => number
  /** Starts a run; `round` counts from 0. */
  readonly start: (round: number) => Running
  /** The share that a run still has to write, 0 to 1. Default: all. */
  readonly left?: () => number
  /** Whether the run has begun to write. */
  readonly hasBegun: () => boolean
  /** Checks what a run left behind; `killed` is false if the run ended before it could be killed. */
  readonly inspect: (killed: boolean, run: Run) => void | Promise<void>
}

/** How long a run takes until it begins to write, and from then to its end. */
interface Pace {
  beginMs: number
  writeMs: number
}

/**
 * Kills runs with their process groups until `kills` of them were killed. Draws the times evenly over the part of a run in which
 * it writes, whose length it first measures with a run that may finish. Returns the number of runs.
 */
export async function killLoop({ kills, random, start, left = () => 1, hasBegun, inspect }: KillLoop): Promise<number> {
  const pace = await measure(start(0), hasBegun)
  await inspect(false, pace.run)
  let killed = 0
  for (let round = 1; killed < kills; round++) {
    if (round > 4 * kills + 20) throw new Error(`Only ${killed} of ${round} runs could be killed before they ended.`)
    const running = start(round)
    if (round % ANYWHERE_EVERY === 0) await sleep(random() * (pace.beginMs + pace.writeMs))
    else if (await waitUntilBegun(running, hasBegun)) await sleep(random() * left() * pace.writeMs)
    killGroup(running)
    const run = await running.ended
    if (run.signal === 'SIGKILL') killed++
    await inspect(run.signal === 'SIGKILL', run)
    if (killed === kills) return round + 1
  }
  return 1
}

/** Kills a run and all its children; it may have ended meanwhile. */
export function killGroup({ child }: Running): void {
  try {
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  } catch {}
}

/** Waits until a run writes; returns false if it ended first. */
export async function waitUntilBegun({ child }: Running, hasBegun: () => boolean): Promise<boolean> {
  while (!hasBegun()) {
    if (child.exitCode !== null || child.signalCode !== null) return false
    await sleep(1)
  }
  return true
}

/** Measures a run that may finish. */
export async function measure(running: Running, hasBegun: () => boolean): Promise<Pace & { run: Run }> {
  const started = performance.now()
  await waitUntilBegun(running, hasBegun)
  const beginMs = performance.now() - started
  const run = await running.ended
  return { beginMs, writeMs: performance.now() - started - beginMs, run }
}
