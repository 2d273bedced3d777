import { fileURLToPath } from 'node:url'
import { measureCost } from '../peak.js'
import type { Contender, Measured, Row } from '../row.js'
import { startServed } from '../served-tree.js'
import type { Workspace } from '../workspace.js'

const MAIN = fileURLToPath(new URL('../minutes-main.ts', import.meta.url))
const SYMBOL = 'BTCUSDT'
const [FROM, TO] = ['2018-01-01', '2026-01-01']
const MINUTES = (Date.parse(TO) - Date.parse(FROM)) / 60_000
/** The candles of each selection of intervals: 4,207,680 and 490,896. */
const CANDLES: Readonly<Record<string, number>> = {
  '1m': MINUTES,
  '15m,30m,1h': MINUTES / 15 + MINUTES / 30 + MINUTES / 60,
}
/** The most memory, MB, and the most time of a candle beside one of the longer intervals. */
const [MOST_MB, MOST_TIME] = [250, 1.3]

/** Time of a candle, and peak memory, of 8 years of 1m beside the same years of three intervals of the static service. */
export async function minutesRows(workspace: Workspace): Promise<Row[]> {
  const args = ['--import', import.meta.resolve('tsx'), MAIN, SYMBOL, FROM, TO]
  const { url, end } = await startServed({ program: process.execPath, args })
  workspace.defer(end)
  const mirror = (intervals: string) => workspace.path(`mirror-${intervals}`)
  const inMirror = (intervals: string) => ['--mirror', mirror(intervals), '--from', FROM, '--to', TO]
  const output = (name: string) => ['-o', workspace.fresh(name)]
  const commands: Record<string, (intervals: string) => readonly string[]> = {
    download: intervals => {
      workspace.fresh(`mirror-${intervals}`)
      return ['download', ...inMirror(intervals), '--base-url', `binance:${url}`]
    },
    'export to CSV': intervals => ['export', ...inMirror(intervals), ...output('minutes.csv')],
    'export to Parquet': intervals => ['export', ...inMirror(intervals), ...output('minutes.parquet')],
    'a lake': intervals => ['export', ...inMirror(intervals), '--layout', 'hive', ...output('lake')],
    verify: intervals => ['verify', ...inMirror(intervals)],
  }
  return Object.entries(commands).flatMap(([title, command]) => {
    return costRows(title, intervals => {
      const [name, ...flags] = command(intervals)
      return measureCost(workspace, [name, SYMBOL, '-i', intervals, ...flags, '-q'])
    })
  })
}

/** Two rows of the same runs: the second one returns the memory that the first one has measured. */
function costRows(title: string, measure: (intervals: string) => ReturnType<typeof measureCost>): Row[] {
  const peaks = new Map<string, Measured[]>()
  const contenders = (run: (intervals: string) => Promise<Measured>) =>
    Object.keys(CANDLES).map((intervals): Contender => ({ name: intervals, measure: () => run(intervals) }))
  const times = contenders(async intervals => {
    const { ms, peakMb } = await measure(intervals)
    peaks.set(intervals, [...(peaks.get(intervals) ?? []), { value: peakMb }])
    return { value: (1e6 * ms) / CANDLES[intervals], detail: { ms } }
  })
  const memory = contenders(async intervals => peaks.get(intervals)?.shift() as Measured)
  const peer = '15m,30m,1h'
  return [
    row(`${title}: a candle of 1m`, 'ns', times, [{ peer, most: MOST_TIME }]),
    row(`its memory, ${MINUTES.toLocaleString('en')} candles`, 'MB', memory, [{ below: MOST_MB }]),
  ]
}

function row(title: string, unit: 'ns' | 'MB', contenders: readonly Contender[], targets: Row['targets']): Row {
  return { title, unit, contenders: contenders as [Contender, ...Contender[]], targets }
}
