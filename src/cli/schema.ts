/** A plain JSON Schema, such as `{ type: 'string' }`. `T`: the type of the values that it describes. */
export interface JsonSchema<T = unknown> {
  readonly [keyword: string]: unknown
  /** Never there: only for its type. */
  readonly '~type'?: T
}

/** The type of the values that a schema describes. */
export type JsonOf<Schema> = Schema extends JsonSchema<infer Json> ? Json : never

// biome-ignore lint/suspicious/noExplicitAny: each field knows its own values
type Any = any

/** A value of a report: its JSON Schema, where it is in the result of a library function, and how a table shows it. */
export interface Field<T = unknown> {
  readonly schema: JsonSchema<T>
  /** Takes it from the object that it is part of. Default: the property of its name. */
  readonly of?: (owner: Any) => unknown
  /** The value as JSON has it. Default: as it is. */
  readonly json?: (value: Any) => unknown
  readonly isOptional?: boolean
  /** The heading of its column in a table; undefined for what no table has. */
  readonly head?: string
  /** Whether its column is aligned to the right. */
  readonly isNumber?: boolean
  /** The value as CSV has it. Default: as it is. */
  readonly exact?: (value: Any) => string | number
  /** The same for people. Default: the same as CSV. */
  readonly show?: (value: Any) => string | number
}

/** Fields by name, in the order in which JSON and tables have them. */
export type Fields = Readonly<Record<string, Field>>

/** The JSON object that fields describe. */
export type ObjectOf<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/** The value of a field in an object of a result; undefined where there is none. */
export function fieldValue(name: string, { of }: Field, owner: object): unknown {
  return of ? of(owner) : (owner as Readonly<Record<string, unknown>>)[name]
}

/** A value as JSON has it, null where there is none. */
function toJson({ json }: Field, value: unknown): unknown {
  return value === undefined || value === null ? null : json ? json(value) : value
}

/** The fields of an object as JSON. */
export function jsonOf(fields: Fields, owner: object): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const value = fieldValue(name, field, owner)
    return field.isOptional && value === undefined ? [] : [[name, toJson(field, value)]]
  })
  return Object.fromEntries(entries)
}

/** The JSON Schema of an object of fields. */
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
  return { ...schema, ...(description === undefined ? {} : { description }) }
}

export function text(description?: string): Field<string> {
  return { schema: described({ type: 'string' }, description) }
}

/** A whole number of things. */
export function count(description?: string): Field<number> {
  return { schema: described({ type: 'integer', minimum: 0 }, description), isNumber: true }
}

export function integer(description?: string): Field<number> {
  return { schema: described({ type: 'integer' }, description), isNumber: true }
}

export function flag(description?: string): Field<boolean> {
  return { schema: described({ type: 'boolean' }, description) }
}

const TIME = 'ms since the epoch, UTC; null when there is none'
const toMinutes = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ')

/** A time in ms UTC, or none; shown to the minute. */
export function time(description = TIME): Field<number | null> {
  const json = (value: number) => (Number.isFinite(value) ? value : null)
  return { schema: described({ type: ['integer', 'null'] }, description), json, exact: toMinutes }
}

/** The same, of which people see the day. */
export function day(): Field<number | null> {
  return { ...time(), show: value => toMinutes(value).slice(0, 10) }
}

/** An exact decimal as text, or none; shown without the zeros at its end. */
export function decimal(): Field<string | null> {
  const show = (value: string) => value.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
  const schema = described({ type: ['string', 'null'] }, 'exact; null for a series without candles')
  return { schema, isNumber: true, show }
}

/** One of some words. */
export function oneOf<const Words extends readonly string[]>(words: Words, description?: string): Field<Words[number]> {
  return { schema: described({ type: 'string', enum: words }, description) }
}

/** A list; in a table joined by blanks. */
export function list<T>(item: Field<T>, description?: string): Field<readonly T[]> {
  const json = (values: readonly unknown[]) => values.map(value => toJson(item, value))
  const schema = described({ type: 'array', items: item.schema }, description)
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

/** A field that is not the property of its name. */
export function derived<T, Owner>(field: Field<T>, of: (owner: Owner) => unknown): Field<T> {
  return { ...field, of }
}

/** A field that is a column of a table. */
export function column<T>(head: string, field: Field<T>): Field<T> {
  return { ...field, head }
}
