import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { checkSameLake } from '../lake-check.js'
import type { Contender, Row } from '../row.js'
import { type Command, environment, timeRun } from '../timed-run.js'
import { seriesFiles, writeList } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'

const YEARS = `select year(open_time) as year, avg(close) as mean, count(*)::int as candles
  from candles('BTCUSDT', '1h') group by year order by year`

/** A lake of the whole slice: built, refreshed, and queried. */
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
    yearsRow(workspace, lake),
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

/** Yearly means of one series, beside DuckDB over its window files. */
function yearsRow(workspace: Workspace, lake: string): Row {
  const list = writeList(workspace.path('years.json'), seriesFiles(workspace.slice, ['1h']).slice(0, 1))
  const ours = klines(['sql', '--lake', lake, '-f', 'json', YEARS])
  const contender = (name: string, command: Command): Contender => ({
    name,
    measure: () => timeRun(command),
    check: async () => {
      const [expected, actual] = [await readRows(ours), await readRows(command)]
      if (actual !== expected) throw new Error(`${name} has the means ${actual}, not ${expected}`)
    },
  })
  return {
    title: 'klines sql: yearly means of 1h candles',
    unit: 'ms',
    isHeadline: true,
    runsPerRound: 3,
    contenders: [
      contender('klines', ours),
      contender('DuckDB over the windows', peer('duckdb-years.mjs', list, 'plain')),
      contender('the same by way of DECIMAL(18,8)', peer('duckdb-years.mjs', list, 'fast')),
    ],
    targets: [{ peer: 'DuckDB over the windows', most: 0.8 }],
  }
}

/** The rows that a command prints as JSON, as text. */
async function readRows({ program, args, env }: Command): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args], { env: environment(env) })
  return JSON.stringify(JSON.parse(stdout))
}
