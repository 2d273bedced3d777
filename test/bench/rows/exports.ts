import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { realTree } from '../../support/oracles/real-tree.js'
import { checkSameParquet } from '../parquet-check.js'
import { type Build, type Command, klines, peer, run, THIS_BUILD } from '../programs.js'
import type { Contender, Row } from '../row.js'
import { fresh, path, seriesFiles, writeList } from '../slice.js'

/** What an export makes of the slice. */
export function exportRows(): Row[] {
  // 211,994 of the 609,662 candles.
  const list = writeList('1h-2h.json', seriesFiles(['1h', '2h']))
  return [
    csvRow(list),
    parquetRow(list, 'gzip', 0.5),
    parquetRow(list, 'snappy', 1),
    {
      name: 'all',
      title: 'one Parquet of all',
      klines: build => exporter(build, build.name, 'all.parquet', 'all', '-i', 'all'),
      // Of commit 8b4996af.
      mostOfEarlier: 0.6,
    },
    {
      name: 'lake',
      title: 'a lake of all',
      klines: build => exporter(build, build.name, 'lake', 'all', '-i', 'all', '--layout', 'hive'),
    },
    memoryRow('CSV', 'memory.csv'),
    memoryRow('Parquet', 'memory.parquet'),
  ]
}

/** One CSV file; a peer's must have the same bytes. */
function csvRow(list: string): Row {
  let expected: string | undefined
  const check = (file: string) => {
    const digest = createHash('sha256').update(readFileSync(file)).digest('hex')
    expected ??= digest
    if (digest !== expected) throw new Error(`${file} differs from the CSV of klines`)
  }
  const duckdb = writer('DuckDB', 'short.csv', out => peer('duckdb-copy.mjs', list, out, 'csv'), check)
  const python = writer('python3', 'short.csv', out => peer('windows-to-csv.py', list, out), check)
  return {
    name: 'csv',
    title: 'CSV of 1h and 2h',
    klines: build => exporter(build, build.name, 'short.csv', 'all', '-i', '1h,2h'),
    peers: [
      { ...duckdb, most: 0.8 },
      { ...python, program: 'python3', most: 0.45 },
    ],
  }
}

/** One Parquet file; a peer's must have the same columns, types, compression and rows. */
function parquetRow(list: string, codec: string, most: number): Row {
  const file = `${codec}.parquet`
  const check = (theirs: string) => checkSameParquet(path(`${THIS_BUILD.name}-${file}`), theirs)
  const duckdb = writer('DuckDB', file, out => peer('duckdb-copy.mjs', list, out, codec), check)
  return {
    name: codec,
    title: `Parquet of 1h and 2h, ${codec}`,
    klines: build => exporter(build, build.name, file, 'all', '-i', '1h,2h', '--compression', codec),
    peers: [{ ...duckdb, most }],
  }
}

/** Peak memory of an export of the slice, beside that of a third of its candles. */
function memoryRow(format: string, file: string): Row {
  const third = exporter(THIS_BUILD, 'a third', file, 'ADAUSDT', '-i', 'all')
  return {
    name: 'memory',
    title: `memory of ${format} of all`,
    figure: 'mb',
    klines: build => exporter(build, build.name, file, 'all', '-i', 'all'),
    peers: [{ ...third, most: 1.15 }],
  }
}

/** An export of the slice by a build of klines. */
function exporter(build: Build, name: string, file: string, ...args: string[]): Contender {
  return writer(name, file, out => klines(build, 'export', ...args, '--mirror', realTree(), '-q', '-o', out))
}

/** A contender that writes a file or folder of its own, which is checked. */
function writer(
  name: string,
  file: string,
  command: (out: string) => Command,
  check: (out: string) => Promise<void> | void = () => {},
): Contender {
  const own = `${name}-${file}`
  return { name, run: () => run(command(fresh(own))), check: () => check(path(own)) }
}
