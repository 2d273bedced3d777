import type { Row } from '../row.js'
import { timeRun } from '../timed-run.js'
import { seriesFiles, writeList } from '../window-lists.js'
import { klines, type Place, peer } from '../workspace.js'

/** The proof of every candle, beside merely parsing every window of the slice once. */
export function verifyRows(place: Place): Row[] {
  const list = writeList(place.path('list.json'), seriesFiles(place.slice, undefined, { empty: true }))
  const ours = klines(['verify', 'all', '-i', 'all', '--mirror', place.slice, '-q'])
  return [
    {
      title: 'klines verify all -i all',
      unit: 'ms',
      contenders: [
        { name: 'klines', measure: () => timeRun(ours) },
        { name: 'python3', program: 'python3', measure: () => timeRun(peer('parse-windows.py', list)) },
      ],
      targets: [{ peer: 'python3', below: 1 }],
    },
  ]
}
