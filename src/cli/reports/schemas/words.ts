import Type from 'typebox'

/** Words that the schemas of several commands share. */

/** An object with the warnings of its run. */
export function report<Properties extends Type.TProperties>($id: string, properties: Properties) {
  return Type.Object({ ...properties, warnings: list(Text) }, { $id, additionalProperties: false })
}

export function object<Properties extends Type.TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, { ...described(description), additionalProperties: false })
}

export function list<Schema extends Type.TSchema>(schema: Schema, description?: string) {
  return Type.Array(schema, described(description))
}

export function nullable<Schema extends Type.TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], described(description))
}

type Literals<Words extends readonly string[]> = { -readonly [Index in keyof Words]: Type.TLiteral<Words[Index]> }

export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  const literals = words.map(word => Type.Literal(word)) as Type.TSchema[]
  return Type.Union(literals, described(description)) as Type.TUnion<Literals<Words>>
}

function described(description: string | undefined) {
  return description === undefined ? {} : { description }
}

export const text = (description: string) => Type.String({ description })
export const integer = (description: string) => Type.Integer({ description })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const flag = (description: string) => Type.Boolean({ description })
export const Text = Type.String()
export const Integer = Type.Integer()
export const Count = Type.Integer({ minimum: 0 })
export const Time = nullable(Integer, 'ms since the epoch, UTC; null when there is none')

export const mirror = text('folder of the mirror')
export const baseUrl = nullable(Text, 'base address that the candles come from; null for a tree without mirror.json')
export const sample = flag('whether the candles are the synthetic sample data')
export const range = object({ from: Time, to: Time })
export const location = { baseUrl, sample, mirror, range }
export const seriesName = { symbol: Text, interval: Text }
export const changedCell = object({
  openTime: Integer,
  column: Text,
  before: nullable(Text, 'null for a candle that was added'),
  after: nullable(Text, 'null for one that was withdrawn'),
})

export const coverage = object({
  interval: text('the length of the candles that are counted, of a resampled series the new one'),
  requested: range,
  first: Time,
  last: Time,
  shortAtStart: count('closed candles of the range that are missing before the first one'),
  shortAtEnd: count('closed candles of the range that are missing after the last one'),
})

export const fingerprint = {
  ...seriesName,
  fingerprint: text('klines:1: and a SHA-256 in hex'),
  candles: Count,
  firstOpenTime: Integer,
  lastOpenTime: Integer,
  years: list(
    object({ year: Integer, candles: Count, sha256: text('of the lines of the candles that open in that year, UTC') }),
    'the years that have candles',
  ),
}
export const set = nullable(Text, 'fingerprint of all series, from two on: klines:1:set: and a SHA-256 in hex')
