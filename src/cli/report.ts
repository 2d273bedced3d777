import { type Field, type Fields, type JsonSchema, list, object, objectSchema, text } from './schema.js'
import { csvTable, fittingText, type Table } from './terminal/table.js'

/** What a command reports: the published schema of its `--json`, and its text for people. */
export interface Report<Result extends object = object> {
  /** Without `warnings`, which every report has. */
  readonly fields: Fields
  readonly schema: JsonSchema
  readonly text: (result: Result, options: TextOptions) => string
}

/** How a report is shown. */
export interface TextOptions {
  readonly verbose?: boolean
  /** Of a table. */
  readonly format?: 'text' | 'csv' | undefined
  readonly [flag: string]: unknown
}

/** A report with a text of its own. */
export function report<Result extends object>(
  id: string,
  fields: Fields,
  text: Report<Result>['text'],
): Report<Result> {
  return { fields, schema: reportSchema(id, fields), text }
}

/** The schema of `--json`, `{ $id, ... }`: the object of a command with the warnings of its run. */
function reportSchema($id: string, fields: Fields): JsonSchema {
  return { $id, ...objectSchema({ ...fields, warnings: list(text()) }) }
}

/** How a table is shown. */
export interface TableOptions<Result extends object> {
  /** The property of the result that has the rows. Default: `series`. */
  readonly rows?: string
  /** Other properties of the result. */
  readonly with?: Fields
  /** How many of the first columns are repeated where a table is split because it is too wide. Default 1. */
  readonly keys?: number
  /** Headings of columns that stay together where they fit. */
  readonly groups?: readonly (readonly string[])[]
  /** What stands below the table; undefined for nothing. */
  readonly below?: (result: Result, options: TextOptions) => string | undefined
}

/** A report that is a table: the columns of the text and of CSV are those fields of a row that have a heading. */
export function table<Result extends object>(
  id: string,
  fields: Fields,
  options: TableOptions<Result> = {},
): Report<Result> {
  const { rows: name = 'series', keys = 1, groups, below } = options
  const columns = Object.entries(fields).filter(([, { head }]) => head !== undefined)
  const toTable = (result: Result, isExact: boolean): Table => {
    const rows = (result as Readonly<Record<string, unknown>>)[name] as readonly Readonly<Record<string, unknown>>[]
    return {
      head: columns.map(([, { head }]) => head as string),
      rows: rows.map(row => columns.map(([key, field]) => toCell(field, row[key], isExact))),
      right: columns.flatMap(([, { head, isNumber }]) => (isNumber ? [head as string] : [])),
    }
  }
  const all = { ...options.with, [name]: list(object(fields)) }
  return report(id, all, (result, shown) => {
    if (shown.format === 'csv') return csvTable(toTable(result, true))
    const note = below?.(result, shown)
    const lines = fittingText(toTable(result, false), keys, groups)
    return note === undefined ? lines : `${lines}\n\n${note}`
  })
}

function toCell({ exact, show }: Field, value: unknown, isExact: boolean): string | number {
  if (value === undefined || value === null) return '-'
  const format = (isExact ? exact : (show ?? exact)) as ((value: unknown) => string | number) | undefined
  return format ? format(value) : typeof value === 'number' ? value : String(value)
}
