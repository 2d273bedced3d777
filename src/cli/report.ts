import { formatTime } from '../candles/text.js'
import { csvTable, fittingText, type Table, textTable } from './terminal/table.js'

/** A plain JSON Schema, such as `{ type: 'string' }`. `T`: the type of the values that it describes. */
export interface JsonSchema<T = unknown> {
  readonly [keyword: string]: unknown
  /** Never there: only for its type. */
  readonly '~type'?: T
}

export type JsonOf<Schema> = Schema extends JsonSchema<infer Json> ? Json : never

// biome-ignore lint/suspicious/noExplicitAny: each field knows its own values
type Any = any

/** A value of a report: its JSON Schema, where it is in a result of the library, and how a table shows it. */
export interface Field<T = unknown> {
  readonly schema: JsonSchema<T>
  /** Takes it from its object. Default: the property of its name. */
  readonly of?: (owner: Any) => unknown
  /** The value as JSON has it. Default for this and the next two: as it is. */
  readonly json?: (value: Any) => unknown
  readonly isOptional?: boolean
  /** The heading of its column in a table, and whether that is aligned to the right. */
  readonly head?: string
  readonly isNumber?: boolean
  /** As CSV has it. */
  readonly exact?: (value: Any) => string | number
  /** As people read it. Default: as CSV has it. */
  readonly show?: (value: Any) => string | number
}

/** Fields by name, in the order of JSON and tables. */
export type Fields = Readonly<Record<string, Field>>

export type ObjectOf<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

function fieldValue(name: string, { of }: Field, owner: object): unknown {
  return of ? of(owner) : (owner as Readonly<Record<string, unknown>>)[name]
}

function toJson({ json }: Field, value: unknown): unknown {
  return value === undefined || value === null ? null : json ? json(value) : value
}

export function jsonOf(fields: Fields, owner: object): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const value = fieldValue(name, field, owner)
    return field.isOptional && value === undefined ? [] : [[name, toJson(field, value)]]
  })
  return Object.fromEntries(entries)
}

export function objectSchema<F extends Fields>(fields: F): JsonSchema<ObjectOf<F>> {
  const entries = Object.entries(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    required: entries.flatMap(([name, { isOptional }]) => (isOptional ? [] : name)),
    additionalProperties: false,
  }
}

function described(schema: object, description?: string): JsonSchema<never> {
  return { ...schema, ...(description && { description }) }
}

function fieldOf<T>(type: object, isNumber = false) {
  return (description?: string): Field<T> => ({ schema: described(type, description), isNumber })
}

export const text = fieldOf<string>({ type: 'string' })
export const count = fieldOf<number>({ type: 'integer', minimum: 0 }, true)
export const integer = fieldOf<number>({ type: 'integer' }, true)
export const flag = fieldOf<boolean>({ type: 'boolean' })

/** A time in ms UTC, or none; shown to the minute. */
export function time(): Field<number | null> {
  const schema = described({ type: ['integer', 'null'] }, 'ms since the epoch, UTC; null when there is none')
  return { schema, json: (value: number) => (Number.isFinite(value) ? value : null), exact: formatTime }
}

/** The same, of which people see the day. */
export function day(): Field<number | null> {
  return { ...time(), show: value => formatTime(value).slice(0, 10) }
}

/** An exact decimal as text, or none; shown without the zeros at its end. */
export function decimal(): Field<string | null> {
  const schema = described({ type: ['string', 'null'] }, 'exact; null for a series without candles')
  return { schema, isNumber: true, show: (value: string) => value.replace(/\.0*$|(\.\d*?)0+$/, '$1') }
}

export function oneOf<const Words extends readonly string[]>(words: Words, description?: string): Field<Words[number]> {
  return { schema: described({ type: 'string', enum: words }, description) }
}

/** A list; in a table joined by blanks. */
export function list<T>(item: Field<T>, description?: string): Field<readonly T[]> {
  const schema = described({ type: 'array', items: item.schema }, description)
  const json = (values: readonly unknown[]) => values.map(value => toJson(item, value))
  return { schema, json, exact: values => values.join(' ') || '-' }
}

export function object<F extends Fields>(fields: F, description?: string): Field<ObjectOf<F>> {
  return { schema: described(objectSchema(fields), description), json: owner => jsonOf(fields, owner) }
}

/** A value that may be missing: `--json` prints null. */
export function maybe<T>(field: Field<T>, description?: string): Field<T | null> {
  return { ...field, schema: described({ anyOf: [field.schema, { type: 'null' }] }, description) }
}

/** A property that is left out where there is none. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { ...field, isOptional: true } as Field<T | undefined>
}

export function derived<T, Owner>(field: Field<T>, of: (owner: Owner) => unknown): Field<T> {
  return { ...field, of }
}

export function column<T, Owner>(head: string, field: Field<T>, of?: (owner: Owner) => unknown): Field<T> {
  return { ...field, head, ...(of && { of }) }
}

/** What a command reports of a result of the library: `--json` with its published schema, and the text for people. */
export interface Report<Result extends object, Json = unknown> {
  readonly schema: JsonSchema<Json>
  /** The object of `--json`, to which `warnings` are added. */
  readonly json: (result: Result) => object
  readonly text: (result: Result, flags: TextFlags) => string
  /** What was asked for by a flag: with `--quiet`, stdout has it alone. */
  readonly asked?: ((result: Result) => string[]) | undefined
  /** What stderr says also with `--quiet`. */
  readonly urgent?: ((result: Result) => string[]) | undefined
  /** What the range lacks: stderr says it also with `--quiet`, and the warnings of `--json`. */
  readonly lacks?: ((result: Result) => string[]) | undefined
}

export interface TextFlags {
  readonly verbose?: boolean
  readonly quiet?: boolean
  readonly format?: string | undefined
}

type WithWarnings<F extends Fields> = ObjectOf<F> & { readonly warnings: readonly string[] }

export function reportSchema<F extends Fields>($id: string, fields: F): JsonSchema<WithWarnings<F>> {
  return { $id, ...objectSchema({ ...fields, warnings: list(text()) }) } as JsonSchema<WithWarnings<F>>
}

export function report<F extends Fields, Result extends object>(
  id: string,
  fields: F,
  text: (result: Result, flags: TextFlags) => string,
  said: Pick<Report<Result>, 'asked' | 'urgent' | 'lacks'> = {},
): Report<Result, WithWarnings<F>> {
  return { schema: reportSchema(id, fields), json: result => jsonOf(fields, result), text, ...said }
}

/** The columns are the fields that have a heading. `isExact`: as CSV has it. */
function tableOf(row: Fields, objects: readonly object[], isExact = false): Table {
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

/** A table as text. `keys` and `groups`: split where it is wider than the terminal, see `fittingText`. */
export function textOf(row: Fields, objects: readonly object[], keys?: number, groups?: ColumnGroups): string {
  const shown = tableOf(row, objects)
  return keys === undefined ? textTable(shown) : fittingText(shown, keys, groups)
}

export function csvOf(row: Fields, objects: readonly object[]): string {
  return csvTable(tableOf(row, objects, true))
}

type ColumnGroups = readonly (readonly string[])[]

interface TableOptions<Result> {
  /** Default: the fields of a row. */
  readonly shown?: Fields
  readonly keys?: number
  readonly groups?: ColumnGroups
  readonly below?: (result: Result) => string | undefined
  readonly lacks?: (result: Result) => string[]
}

/** A report that is a table: its property `name` has the rows, `head` the other properties. */
export function table<H extends Fields, const Name extends string, R extends Fields, Result extends object>(
  id: string,
  head: H,
  name: Name,
  row: R,
  rowsOf: (result: Result) => readonly object[],
  { shown = row, keys, groups, below, lacks }: TableOptions<Result> = {},
) {
  const rows = derived(list(object(row)), rowsOf)
  const fields = { ...head, [name]: rows } as unknown as H & Readonly<Record<Name, typeof rows>>
  const text = (result: Result, { format }: TextFlags) => {
    if (format === 'csv') return csvOf(shown, rowsOf(result))
    const note = below?.(result)
    return textOf(shown, rowsOf(result), keys, groups) + (note === undefined ? '' : `\n\n${note}`)
  }
  return report(id, fields, text, { lacks })
}
