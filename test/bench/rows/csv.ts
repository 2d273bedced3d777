import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Contender, Row } from '../row.js'
import { type Command, timeRun } from '../timed-run.js'
import { seriesFiles, writeList } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'

const INTERVALS = ['1h', '2h']

/** Exports of the mirror to one CSV file; a peer's file must have the same bytes. */
export function csvRows(workspace: Workspace): Row[] {
  const list = writeList(workspace.path('list.json'), seriesFiles(workspace.slice, INTERVALS))
  let digest: string
  const writer = (name: string, file: string, command: (out: string) => Command, program?: string): Contender => ({
    name,
    program,
    measure: () => timeRun(command(workspace.fresh(file))),
    check: () => {
      const hash = createHash('sha256')
        .update(readFileSync(workspace.path(file)))
        .digest('hex')
      digest ??= hash
      if (hash !== digest) throw new Error(`The CSV of ${name} differs`)
    },
  })
  const ours = ['export', 'all', '-i', INTERVALS.join(), '--mirror', workspace.slice, '-q', '-o']
  return [
    {
      title: 'mirror to CSV, 1h and 2h',
      unit: 'ms',
      isHeadline: true,
      contenders: [
        writer('klines', 'ours.csv', out => klines([...ours, out])),
        writer('python3', 'python.csv', out => peer('windows-to-csv.py', list, out), 'python3'),
        writer('DuckDB', 'duckdb.csv', out => peer('duckdb-copy.mjs', list, out, 'csv')),
        writer('csv-stringify', 'stringify.csv', out => peer('stringify-csv.mjs', list, out)),
      ],
      targets: [
        { peer: 'python3', most: 0.35 },
        { peer: 'DuckDB', most: 1 },
        { peer: 'csv-stringify', most: 0.25 },
      ],
    },
  ]
}
