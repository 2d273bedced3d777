import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Contender, Row } from '../row.js'
import { timeRun } from '../timed-run.js'
import { klines, type Workspace } from '../workspace.js'

const WATCH = fileURLToPath(new URL('../../faults/support/watch-memory.mjs', import.meta.url))

/** Parts of the slice with 609,662, 209,031 and 59,391 candles. */
const PARTS = {
  klines: ['all', '-i', 'all'],
  'a third': ['ADAUSDT', '-i', 'all'],
  'a tenth': ['ADAUSDT', '-i', '15m,8h,1d,3d'],
}
const FORMATS: Record<string, string[]> = {
  CSV: ['-f', 'csv'],
  'Parquet, double': ['-f', 'parquet'],
  'Parquet, decimal': ['-f', 'parquet', '--numbers', 'decimal'],
}

/** Peak memory of an export of the whole slice, compared with parts of it. */
export function memoryRows(workspace: Workspace): Row[] {
  return Object.entries(FORMATS).map(([format, flags]) => {
    const contenders = Object.entries(PARTS).map(([name, part]): Contender => {
      return { name, measure: () => measurePeak(workspace, [...part, ...flags]) }
    })
    return {
      title: `memory to export all to ${format}`,
      unit: 'MB',
      contenders: contenders as [Contender, ...Contender[]],
      targets: [{ peer: 'a third', most: 1.15 }, { below: 200 }],
    }
  })
}

/** The peak memory of an export, MB of 1,000 kB, and its duration. */
async function measurePeak(workspace: Workspace, args: readonly string[]) {
  const peak = workspace.fresh('peak.txt')
  const run = ['export', ...args, '--mirror', workspace.slice, '-q', '-o', workspace.fresh('memory.out')]
  const { value } = await timeRun(klines(run, WATCH, { KLINES_TEST_MEMORY: peak }))
  return { value: (Number(readFileSync(peak, 'utf8')) * 1024) / 1e6, detail: { ms: value } }
}
