import Type, { type TSchema } from 'typebox'
import type { FileFormat, Format } from '../../options/formats.js'

const BINARY = Type.Unsafe<Uint8Array>({ description: 'The bytes of the file' })
const CELL = Type.Union([Type.Integer(), Type.Number(), Type.String()])

/** How each format is sent, and the schema of the body. */
const MEDIA: Record<Format, { readonly type: string; readonly schema: TSchema }> = {
  csv: { type: 'text/csv; charset=utf-8', schema: Type.String({ description: 'With a header' }) },
  json: {
    type: 'application/json; charset=utf-8',
    schema: Type.Array(Type.Array(CELL), { description: 'A row a candle, its cells in the order of the columns' }),
  },
  jsonl: {
    type: 'application/jsonl; charset=utf-8',
    schema: Type.Record(Type.String(), CELL, { description: 'A line: a candle by the names of the columns' }),
  },
  parquet: { type: 'application/vnd.apache.parquet', schema: BINARY },
  arrow: { type: 'application/vnd.apache.arrow.file', schema: BINARY },
}

const GZIP_TYPE = 'application/gzip'

/** The media type of a file. */
export function mediaType({ format, gzip }: FileFormat): string {
  return gzip ? GZIP_TYPE : MEDIA[format].type
}

/** Schemas of the bodies by media type, without its parameters. */
export function exportContent(): Record<string, TSchema> {
  const types = Object.values(MEDIA).map(({ type, schema }) => [type.split(';')[0], schema] as const)
  return Object.fromEntries([...types, [GZIP_TYPE, BINARY]])
}
