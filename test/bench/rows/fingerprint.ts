import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import type { Row } from '../row.js'
import { type Command, environment, timeRun } from '../timed-run.js'
import { klines, type Workspace } from '../workspace.js'

const CANDLES = ['all', '-i', '1h,2h']

/** Fingerprints of the mirror, and its comparison with a copy, beside a CSV export of the same candles. */
export function fingerprintRows(workspace: Workspace): Row[] {
  const mirror = ['--mirror', workspace.slice]
  const ours = klines(['fingerprint', ...CANDLES, ...mirror])
  const copy = workspace.fresh('copy')
  cpSync(workspace.slice, copy, { recursive: true })
  const diff = klines(['diff', workspace.slice, copy, '-i', '1h,2h'])
  const csv = () => klines(['export', ...CANDLES, ...mirror, '-q', '-o', workspace.fresh('candles.csv')])
  return [
    {
      title: 'fingerprints of the mirror, 1h and 2h',
      unit: 'ms',
      contenders: [
        { name: 'klines', measure: () => timeRun(ours) },
        {
          name: 'klines export to CSV',
          measure: () => timeRun(csv()),
          check: () => {
            const file = klines(['fingerprint', workspace.path('candles.csv')])
            const [ofMirror, ofFile] = [ours, file].map(printedBy)
            if (ofMirror !== ofFile) throw new Error('The fingerprints of the mirror and of the CSV file differ')
          },
        },
      ],
      targets: [{ peer: 'klines export to CSV', most: 1.2 }],
    },
    {
      title: 'diff of two equal mirrors, 1h and 2h',
      unit: 'ms',
      contenders: [
        {
          name: 'klines',
          measure: () => timeRun(diff),
          check: () => {
            if (!printedBy(diff).includes('Equal: ')) throw new Error('A mirror and its copy differ')
          },
        },
        { name: 'klines export to CSV', measure: () => timeRun(csv()) },
      ],
      targets: [{ peer: 'klines export to CSV', most: 2.5 }],
    },
  ]
}

/** The lines that a command prints, sorted: the order of series is up to it. */
function printedBy({ program, args, env }: Command): string {
  const text = execFileSync(program, args, { env: environment(env), encoding: 'utf8' })
  return text.trimEnd().split('\n').sort().join('\n')
}
