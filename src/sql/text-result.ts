import type { Output } from '../export/output/output.js'
import type { Database } from './database.js'
import type { Query } from './query.js'
import { resultText, type TextFormat } from './result-format.js'

/**
 * Writes the result of a query as text, chunk by chunk. `open` is called when the query has run to its end: one that fails opens
 * nothing. Returns the number of rows. Throws `bad_query`.
 */
export async function writeText(
  database: Database,
  query: Query,
  format: TextFormat,
  open: () => Promise<Output>,
): Promise<number> {
  const result = await database.run(query.sql)
  const text = resultText(format, result.deduplicatedColumnNames())
  const output = await open()
  let pending = text.start
  let rows = 0
  for (;;) {
    const chunk = await database.guard(() => result.fetchChunk())
    if (!chunk || chunk.rowCount === 0) break
    await output.write(Buffer.from(pending + text.rows(chunk.getRows(), rows === 0)))
    pending = ''
    rows += chunk.rowCount
  }
  await output.write(Buffer.from(pending + text.end))
  await output.finish()
  return rows
}
