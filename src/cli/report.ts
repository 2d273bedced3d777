import {
  type Fields,
  fieldValue,
  type JsonSchema,
  jsonOf,
  list,
  type ObjectOf,
  object,
  objectSchema,
  text,
} from './schema.js'
import { csvTable, fittingText, type Table } from './terminal/table.js'

/** What a command reports of the result of a library function: `--json` with its published schema, and the text for people. */
export interface Report<Result extends object, Json = unknown> {
  readonly schema: JsonSchema<Json>
  /** The object of `--json`, to which `warnings` are added. */
  readonly json: (result: Result) => object
  readonly text: (result: Result, flags: TextFlags) => string
}

/** What the flags say about a text. */
export interface TextFlags {
  readonly verbose?: boolean
  readonly quiet?: boolean
  /** `csv` for a table. */
  readonly format?: string | undefined
}

type WithWarnings<F extends Fields> = ObjectOf<F> & { readonly warnings: readonly string[] }

/** The schema of what `--json` prints: fields, and the warnings of the run. */
export function reportSchema<F extends Fields>($id: string, fields: F): JsonSchema<WithWarnings<F>> {
  return { $id, ...objectSchema({ ...fields, warnings: list(text()) }) } as JsonSchema<WithWarnings<F>>
}

/** A report with a text of its own. */
export function report<F extends Fields, Result extends object>(
  id: string,
  fields: F,
  text: (result: Result, flags: TextFlags) => string,
): Report<Result, WithWarnings<F>> {
  return { schema: reportSchema(id, fields), json: result => jsonOf(fields, result), text }
}

interface TableOptions<Result> {
  /** How many of the first columns are repeated where a table is split because it is too wide. Default 1. */
  readonly keys?: number
  /** Headings of columns that stay together where they fit. */
  readonly groups?: readonly (readonly string[])[]
  /** What stands below the table; undefined for nothing. */
  readonly below?: (result: Result) => string | undefined
}

/**
 * A report that is a table: the property `name` of the result has its rows, and the columns are the fields of a row that have a heading.
 * `head`: the other properties.
 */
export function table<H extends Fields, const Name extends string, R extends Fields, Result extends object>(
  id: string,
  head: H,
  name: Name,
  row: R,
  { keys = 1, groups, below }: TableOptions<Result> = {},
) {
  const rows = list(object(row))
  const fields = { ...head, [name]: rows } as unknown as H & Readonly<Record<Name, typeof rows>>
  return report(id, fields, (result: Result, { format }) => {
    const objects = (result as Readonly<Record<string, unknown>>)[name] as readonly object[]
    if (format === 'csv') return csvTable(tableOf(row, objects, true))
    const shown = fittingText(tableOf(row, objects), keys, groups)
    const note = below?.(result)
    return note === undefined ? shown : `${shown}\n\n${note}`
  })
}

/** The table of some objects. `isExact`: as CSV has it. */
export function tableOf(row: Fields, objects: readonly object[], isExact = false): Table {
  const columns = Object.entries(row).filter(([, { head }]) => head !== undefined)
  const toCell = (owner: object, [name, field]: (typeof columns)[number]) => {
    const value = fieldValue(name, field, owner)
    if (value === undefined || value === null) return '-'
    const format = isExact ? field.exact : (field.show ?? field.exact)
    return format ? format(value) : typeof value === 'number' ? value : String(value)
  }
  return {
    head: columns.map(([, { head = '' }]) => head),
    rows: objects.map(owner => columns.map(column => toCell(owner, column))),
    right: columns.flatMap(([, { head = '', isNumber }]) => (isNumber ? head : [])),
  }
}
