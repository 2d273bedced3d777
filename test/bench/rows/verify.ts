import type { Row } from '../row.js'
import { timeRun } from '../timed-run.js'
import { seriesFiles, writeList } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'

/** The verification of every candle, compared with merely parsing every window of the slice once. */
export function verifyRows(workspace: Workspace): Row[] {
  const list = writeList(workspace.path('list.json'), seriesFiles(workspace.slice, undefined, { empty: true }))
  const ours = klines(['verify', 'all', '-i', 'all', '--mirror', workspace.slice, '-q'])
  return [
    {
      title: 'klines verify all -i all',
      unit: 'ms',
      isHeadline: true,
      contenders: [
        { name: 'klines', measure: () => timeRun(ours) },
        { name: 'python3', program: 'python3', measure: () => timeRun(peer('parse-windows.py', list)) },
      ],
      targets: [{ peer: 'python3', below: 1 }],
    },
  ]
}
