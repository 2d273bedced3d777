import { checkSameParquet } from '../parquet-check.js'
import type { Contender, Row } from '../row.js'
import type { Target } from '../target.js'
import { type Command, timeRun } from '../timed-run.js'
import { seriesFiles, writeList } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'

const INTERVALS = ['1h', '2h']
const TYPES = { double: 'DOUBLE', decimal: 'DECIMAL(38,8)' } as const
const TARGETS: Record<keyof typeof TYPES, Target[]> = {
  double: [{ peer: 'apache-arrow, parquet-wasm', most: 0.5 }],
  decimal: [{ peer: 'DuckDB', most: 0.7 }],
}

/** Exports of the mirror to one Parquet file; a peer's file must have the same columns, types and rows. */
export function parquetRows(workspace: Workspace): Row[] {
  const list = writeList(workspace.path('list.json'), seriesFiles(workspace.slice, INTERVALS))
  const ours = ['export', 'all', '-i', INTERVALS.join(), '--mirror', workspace.slice, '-q']
  return (['double', 'decimal'] as const).map(numbers => {
    const written = (file: string) => `${numbers}-${file}.parquet`
    const writer = (name: string, file: string, command: (out: string) => Command): Contender => ({
      name,
      measure: () => timeRun(command(workspace.fresh(written(file)))),
      check: () => checkSameParquet(workspace.path(written('ours')), workspace.path(written(file)), TYPES[numbers]),
    })
    return {
      title: `mirror to Parquet, 1h and 2h, ${numbers}`,
      unit: 'ms',
      contenders: [
        writer('klines', 'ours', out => klines([...ours, '--numbers', numbers, '-o', out])),
        writer('DuckDB', 'duckdb', out => peer('duckdb-copy.mjs', list, out, numbers)),
        writer('apache-arrow, parquet-wasm', 'arrow', out => peer('arrow-parquet.mjs', list, out, numbers)),
        writer('hyparquet-writer', 'hyparquet', out => peer('hyparquet-write.mjs', list, out, numbers)),
      ],
      targets: TARGETS[numbers],
    }
  })
}
