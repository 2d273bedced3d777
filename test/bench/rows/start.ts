import module from 'node:module'
import type { Contender, Row } from '../row.js'
import { timeRun } from '../timed-run.js'
import { klines, type Workspace } from '../workspace.js'

/** Node with an empty script: no program on Node starts faster. */
const emptyNode: Contender = {
  name: 'node -e 0',
  measure: () => timeRun({ program: process.execPath, args: ['-e', '0'] }),
}

/** The most of that time, where Node (from 22.1 on) keeps compiled code between runs. */
function whereCached(most: number): Row['targets'] {
  return 'enableCompileCache' in module ? [{ peer: emptyNode.name, most }] : []
}

/** How long short commands take. */
export function startRows(workspace: Workspace): Row[] {
  const range = ['--from', '2024-01', '--to', '2024-02']
  const month = ['export', 'BTCUSDT', '-i', '1h', ...range, '--mirror', workspace.slice, '-q', '-o']
  const row = (title: string, args: () => string[], targets: Row['targets'] = []): Row => ({
    title,
    unit: 'ms',
    runsPerRound: 4,
    contenders: [{ name: 'klines', measure: () => timeRun(klines(args())) }, emptyNode],
    targets,
  })
  return [
    row('klines --version', () => ['--version'], [{ peer: emptyNode.name, most: 2.2 }]),
    row('klines symbols --help', () => ['symbols', '--help'], whereCached(3.5)),
    row('klines export of a month', () => [...month, workspace.fresh('month.csv')], whereCached(4.2)),
  ]
}
