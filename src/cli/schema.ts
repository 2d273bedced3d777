import { COLUMNS } from '../klines/columns.js'

/** A plain JSON Schema, such as `{ type: 'string' }`. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What a value is: its JSON Schema, and how a table shows it. `T` is its type; where a value may be missing, `--json` prints null. */
export interface Field<T = unknown> {
  readonly schema: JsonSchema
  /** The heading of its column in a table; undefined for what no table has. */
  readonly head?: string | undefined
  /** Whether its column is aligned to the right, and never cut. */
  readonly isNumber?: boolean
  /** The value as CSV has it. Default: as it is. */
  exact?(value: NonNullable<T>): string | number
  /** The same for people. Default: the same. */
  show?(value: NonNullable<T>): string | number
  /** No property of a field: only for its type. */
  readonly type?: T
}

/** Fields by name, in the order in which JSON and tables have them. */
export type Fields = Readonly<Record<string, Field>>

/** The object that fields describe. */
export type ObjectOf<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

const describe = (schema: JsonSchema, description?: string): JsonSchema =>
  description === undefined ? schema : { ...schema, description }

/** Text. `head`: of its column in a table. */
export function text(head?: string, description?: string): Field<string> {
  return { schema: describe({ type: 'string' }, description), head }
}

/** A whole number of things. */
export function count(head?: string, description?: string): Field<number> {
  return { schema: describe({ type: 'integer', minimum: 0 }, description), head, isNumber: true }
}

export function integer(head?: string, description?: string): Field<number> {
  return { schema: describe({ type: 'integer' }, description), head, isNumber: true }
}

export function flag(head?: string, description?: string): Field<boolean> {
  return { schema: describe({ type: 'boolean' }, description), head, exact: value => (value ? 'yes' : 'no') }
}

const TIME = 'ms since the epoch, UTC; null when there is none'

/** A time in ms UTC, shown to the minute. */
export function time(head?: string, description = TIME): Field<number | undefined> {
  const exact = (value: number) => new Date(value).toISOString().slice(0, 16).replace('T', ' ')
  return { schema: describe({ type: ['integer', 'null'] }, description), head, exact }
}

/** The same, shown to people as its day. */
export function day(head?: string, description?: string): Field<number | undefined> {
  const field = time(head, description)
  return { ...field, show: value => new Date(value).toISOString().slice(0, 10) }
}

/** An exact decimal as text, shown to people without the zeros at its end. */
export function decimal(
  head?: string,
  description = 'exact; null for a series without candles',
): Field<string | undefined> {
  const show = (value: string) => value.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
  return { schema: describe({ type: ['string', 'null'] }, description), head, isNumber: true, show }
}

/** One of some words. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  head?: string,
  description?: string,
): Field<Words[number]> {
  return { schema: describe({ type: 'string', enum: [...words] }, description), head }
}

/** A list. In a table it is joined by commas. */
export function list<T>(item: Field<T>, head?: string, description?: string): Field<readonly T[]> {
  const exact = (values: readonly T[]) => values.join(', ')
  return { schema: describe({ type: 'array', items: item.schema }, description), head, exact }
}

/** A value that may be missing: `--json` prints null. */
export function maybe<T>(field: Field<T>, description?: string): Field<T | undefined> {
  return { ...field, schema: describe({ anyOf: [field.schema, { type: 'null' }] }, description) } as Field<
    T | undefined
  >
}

/** A property that is left out where there is none. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { ...field, schema: { ...field.schema, [OPTIONAL]: true } } as Field<T | undefined>
}

/** Marks an optional property; no part of the published schema. */
const OPTIONAL = Symbol('optional')

/** An object of fields. */
export function object<F extends Fields>(fields: F, description?: string): Field<ObjectOf<F>> {
  return { schema: describe(objectSchema(fields), description) }
}

/** An object with values of one kind under any names. */
export function record<T>(value: Field<T>, description?: string): Field<Readonly<Record<string, T>>> {
  return { schema: describe({ type: 'object', additionalProperties: value.schema }, description) }
}

/** Any JSON value. */
export function anything<T = unknown>(description?: string): Field<T> {
  return { schema: describe({}, description) }
}

/** The JSON Schema of an object of fields. */
export function objectSchema(fields: Fields): JsonSchema {
  const isOptional = ({ schema }: Field) => OPTIONAL in schema
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, { ...schema }])),
    required: Object.entries(fields).flatMap(([name, field]) => (isOptional(field) ? [] : name)),
    additionalProperties: false,
  }
}

/** A cell that a source has changed. */
export const changedCell = object({
  openTime: integer(),
  column: oneOf(COLUMNS),
  before: maybe(text(), 'null for a candle that was added'),
  after: maybe(text(), 'null for a candle that was withdrawn'),
})

/** Fields that several reports have. */
export const seriesName = { symbol: text('symbol'), interval: text('interval') }
export const range = object({ from: time(), to: time() })
export const location = {
  baseUrl: maybe(text(), 'base address that the candles come from; null for a tree without mirror.json'),
  sample: flag(undefined, 'whether the candles are the synthetic sample data'),
  mirror: text(undefined, 'folder of the mirror'),
  range,
}
export const coverage = object({
  interval: text(undefined, 'the length of the candles that are counted, of a resampled series the new one'),
  requested: range,
  first: time(),
  last: time(),
  shortAtStart: count(undefined, 'closed candles of the range that are missing before the first one'),
  shortAtEnd: count(undefined, 'closed candles of the range that are missing after the last one'),
})
