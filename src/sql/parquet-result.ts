import { createReadStream } from 'node:fs'
import type { Output } from '../export/output/output.js'
import { sqlText } from '../lake/root/views.js'
import type { Database } from './database.js'
import type { Query } from './query.js'

/** Whole numbers that Parquet has no type for: DuckDB would write doubles. */
const HUGE = /^U?HUGEINT$/

/**
 * Writes the result of a query as Parquet to `file`, the only one that the database may write, and from there to an output, which
 * `open` opens. Returns the number of rows. Throws `bad_query`.
 */
export async function writeParquet(
  database: Database,
  query: Query,
  file: string,
  open: () => Promise<Output>,
): Promise<number> {
  await database.run(`create temp view klines_result as\n${query.sql}`)
  const described = await database.run('from klines_result limit 0')
  const types = described.columnTypes().map(String)
  const huge = described.columnNames().filter((_, index) => HUGE.test(types[index]))
  const casts = huge.map(name => `cast(${sqlName(name)} as decimal(38, 0)) as ${sqlName(name)}`)
  const select = casts.length > 0 ? `select * replace (${casts.join(', ')}) from klines_result` : 'from klines_result'
  const options = 'format parquet, compression zstd, use_tmp_file false'
  const copied = await database.guard(() =>
    database.connection.runAndReadAll(`copy (${select}) to ${sqlText(file)} (${options})`),
  )
  const output = await open()
  for await (const chunk of createReadStream(file)) await output.write(chunk)
  await output.finish()
  return Number(copied.getRows()[0][0])
}

function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
