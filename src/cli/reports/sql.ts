import { formatBytes, formatCount, plural } from '../../klines/text.js'
import type { Database } from '../../sql/database.js'
import type { Query } from '../../sql/query.js'
import { cellText } from '../../sql/result.js'
import { print } from '../terminal/print.js'
import { fitTable, textTable } from '../terminal/table.js'
import type { Report } from './report.js'
import type { SqlObject } from './schema.js'

/** Rows of a table. */
const MAX_ROWS = 20

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL\(.*|DOUBLE|FLOAT)$/

/** Prints the first rows of a result as a table that fits the terminal, and says what it leaves out. */
export async function printTable(database: Database, query: Query): Promise<void> {
  const result = await database.run(query.sql)
  const head = result.deduplicatedColumnNames()
  const right = head.filter((_, index) => NUMBER.test(String(result.columnType(index))))
  const rows: string[][] = []
  let count = 0
  for (;;) {
    const chunk = await database.guard(() => result.fetchChunk())
    if (!chunk || chunk.rowCount === 0) break
    if (count < MAX_ROWS) {
      const first = chunk.getRows().slice(0, MAX_ROWS - count)
      rows.push(...first.map(row => row.map(cellText)))
    }
    count += chunk.rowCount
  }
  if (query.isExplain) return print(rows.map(row => row.at(-1)).join('\n'))
  const { table, omitted } = fitTable({ head, rows, right }, process.stdout.columns || Number.POSITIVE_INFINITY)
  const shown = count > rows.length ? `${rows.length} of ${formatCount(count)} rows` : plural(count, 'row')
  const notes = [
    ...(omitted.length > 0 ? [`without ${plural(omitted.length, 'column')}: ${omitted.join(', ')}`] : []),
    ...(count > rows.length || omitted.length > 0 ? ['-f csv prints all'] : []),
  ]
  print([textTable(table), '', [shown, ...notes].join('; ')].join('\n'))
}

/** The report of a result in a file. */
export function sqlReport(file: Omit<SqlObject, 'warnings'>): Report<SqlObject> {
  const { path, rows, bytes } = file
  return { json: file, text: () => `${path}: ${plural(rows, 'row')}, ${formatBytes(bytes)}` }
}
