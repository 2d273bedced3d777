import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { timeRun } from './timed-run.js'
import { klines, type Workspace } from './workspace.js'

const WATCH = fileURLToPath(new URL('../faults/support/watch-memory.mjs', import.meta.url))

/** What a run of klines took: time, ms, and the peak of its memory, MB. */
export interface Cost {
  readonly ms: number
  readonly peakMb: number
}

/** Runs klines to its end. */
export async function measureCost(workspace: Workspace, args: readonly string[]): Promise<Cost> {
  const file = workspace.fresh('peak.txt')
  const { value } = await timeRun(klines(args, WATCH, { KLINES_TEST_MEMORY: file }))
  return { ms: value, peakMb: (Number(readFileSync(file, 'utf8')) * 1024) / 1e6 }
}
