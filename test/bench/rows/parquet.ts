import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import zlib from 'node:zlib'
import { checkSameParquet } from '../parquet-check.js'
import type { Contender, Row } from '../row.js'
import { type Command, timeRun } from '../timed-run.js'
import { SYMBOLS, seriesFiles, writeList } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'

const INTERVALS = ['1h', '2h']
const TYPES = { double: 'DOUBLE', decimal: 'DECIMAL(38,8)' } as const
/** zlib has zstd, which is faster than gzip, from Node 22.15 on. */
const isNew = 'zstdCompress' in zlib
/** The most of DuckDB's time, in one file and in six. */
const MOST = { double: isNew ? [1, 0.8] : [1.2, 0.9], decimal: isNew ? [0.8, 0.6] : [0.9, 0.7] }

/** Exports of the mirror to one Parquet file, and to a file for each series. A peer's files must have the same columns, types and rows. */
export function parquetRows(workspace: Workspace): Row[] {
  const list = writeList(workspace.path('list.json'), seriesFiles(workspace.slice, INTERVALS))
  return (['double', 'decimal'] as const).flatMap(numbers => [
    oneFileRow(workspace, list, numbers),
    sixFilesRow(workspace, list, numbers),
  ])
}

type Numbers = keyof typeof TYPES

function oneFileRow(workspace: Workspace, list: string, numbers: Numbers): Row {
  const written = (file: string) => `${numbers}-${file}.parquet`
  const writer = (name: string, file: string, command: (out: string) => Command): Contender => ({
    name,
    measure: () => timeRun(command(workspace.fresh(written(file)))),
    check: () =>
      checkSameParquet(workspace.path(written('ours')), workspace.path(written(file)), TYPES[numbers], {
        several: true,
      }),
  })
  return {
    title: `mirror to Parquet, 1h and 2h, ${numbers}`,
    unit: 'ms',
    isHeadline: numbers === 'decimal',
    contenders: [
      writer('klines', 'ours', out => exportTo(workspace, numbers, out)),
      writer('DuckDB', 'duckdb', out => peer('duckdb-copy.mjs', list, out, numbers)),
      writer('apache-arrow, parquet-wasm', 'arrow', out => peer('arrow-parquet.mjs', list, out, numbers)),
      writer('hyparquet-writer', 'hyparquet', out => peer('hyparquet-write.mjs', list, out, numbers)),
    ],
    targets: [{ peer: 'DuckDB', most: MOST[numbers][0] }],
  }
}

function sixFilesRow(workspace: Workspace, list: string, numbers: Numbers): Row {
  const names = SYMBOLS.flatMap(symbol => INTERVALS.map(interval => `${symbol}-${interval}.parquet`))
  const writer = (name: string, file: string, command: (out: string) => Command): Contender => ({
    name,
    measure: () => {
      const folder = workspace.fresh(`${numbers}-${file}`)
      mkdirSync(folder)
      return timeRun(command(join(folder, '{symbol}-{interval}.parquet')))
    },
    check: async () => {
      for (const part of names) {
        const [ours, theirs] = ['ours', file].map(folder => workspace.path(`${numbers}-${folder}/${part}`))
        await checkSameParquet(ours, theirs, TYPES[numbers], { several: false })
      }
    },
  })
  return {
    title: `the same, six files, ${numbers}`,
    unit: 'ms',
    contenders: [
      writer('klines', 'ours', out => exportTo(workspace, numbers, out)),
      writer('DuckDB', 'duckdb', out => peer('duckdb-copy.mjs', list, out, numbers)),
      writer('two threads', 'two', out => exportTo(workspace, numbers, out, '--threads', '2')),
    ],
    targets: [{ peer: 'DuckDB', most: MOST[numbers][1] }],
  }
}

function exportTo({ slice }: Workspace, numbers: Numbers, out: string, ...flags: string[]): Command {
  const selection = ['all', '-i', INTERVALS.join(), '--mirror', slice]
  return klines(['export', ...selection, '-q', '--numbers', numbers, ...flags, '-o', out])
}
