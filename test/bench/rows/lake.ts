import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { checkSameLake } from '../lake-check.js'
import type { Contender, Row } from '../row.js'
import { type Command, timeRun } from '../timed-run.js'
import { seriesFiles, writeList } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'

/** A lake of the whole slice: built and refreshed. */
export async function lakeRows(workspace: Workspace): Promise<Row[]> {
  const mirror = workspace.path('mirror')
  cpSync(workspace.slice, mirror, { recursive: true })
  const lake = workspace.path('lake')
  await timeRun(build(mirror, lake, 'decimal'))
  return [
    buildRow(workspace, 'decimal'),
    buildRow(workspace, 'double'),
    refreshRow(workspace, mirror, lake, '1h'),
    refreshRow(workspace, mirror, lake, '15m'),
  ]
}

function build(mirror: string, lake: string, numbers: string): Command {
  const layout = ['--layout', 'hive', '-o', lake, '--numbers', numbers, '-q']
  return klines(['export', 'all', '-i', 'all', '--mirror', mirror, ...layout])
}

/** A new lake, beside DuckDB writing the same folders. */
function buildRow(workspace: Workspace, numbers: 'decimal' | 'double'): Row {
  const list = writeList(workspace.path('list.json'), seriesFiles(workspace.slice))
  const ours = `ours-${numbers}`
  const duckdb = (name: string, cast: string, maxRuns?: number): Contender => ({
    name,
    maxRuns,
    measure: () => timeRun(peer('duckdb-lake.mjs', list, workspace.fresh(`duckdb-${cast}`), cast)),
    check: () => checkSameLake(workspace.path(ours), workspace.path(`duckdb-${cast}`)),
  })
  return {
    title: `mirror to a lake, ${numbers}`,
    unit: 'ms',
    contenders: [
      { name: 'klines', measure: () => timeRun(build(workspace.slice, workspace.fresh(ours), numbers)) },
      numbers === 'decimal' ? duckdb('DuckDB, 1 run', 'decimal', 1) : duckdb('DuckDB', 'double'),
    ],
    targets: numbers === 'decimal' ? [{ peer: 'DuckDB, 1 run', most: 0.1 }] : [],
  }
}

/** A lake brought up to date after one window has changed, beside a new one. */
function refreshRow(workspace: Workspace, mirror: string, lake: string, interval: string): Row {
  const window = seriesFiles(mirror, [interval])[0].files.at(-2) as string
  const rebuilt = `rebuilt-${interval}`
  return {
    title: `a lake after one changed window of ${interval}`,
    unit: 'ms',
    contenders: [
      {
        name: 'klines',
        measure: () => {
          changeWindow(window)
          return timeRun(build(mirror, lake, 'decimal'))
        },
      },
      {
        name: 'a new lake',
        measure: () => timeRun(build(mirror, workspace.fresh(rebuilt), 'decimal')),
        check: () => checkSameLake(lake, workspace.path(rebuilt)),
      },
    ],
    targets: [{ peer: 'a new lake', most: 0.3 }],
  }
}

/** Adds a trade to the last candle of a window. */
function changeWindow(path: string): void {
  const rows = JSON.parse(readFileSync(path, 'utf8'))
  rows.at(-1)[8] += 1
  writeFileSync(path, JSON.stringify(rows))
}
