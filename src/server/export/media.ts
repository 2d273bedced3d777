import Type, { type TSchema } from 'typebox'
import type { FileFormat, Format } from '../../options/formats.js'

/** How a format is sent. */
export interface Media {
  readonly type: string
  /** Whether the bytes say the requested range, so that they depend on more than the rows. */
  readonly saysRange: boolean
  /** Schema of the body. */
  readonly schema: TSchema
}

const BINARY = Type.Unsafe<Uint8Array>({ description: 'The bytes of the file' })
const CELL = Type.Union([Type.Integer(), Type.Number(), Type.String()])

/** The media types of all formats. */
export const MEDIA: Record<Format, Media> = {
  csv: { type: 'text/csv; charset=utf-8', saysRange: false, schema: Type.String({ description: 'With a header' }) },
  json: {
    type: 'application/json; charset=utf-8',
    saysRange: false,
    schema: Type.Array(Type.Array(CELL), { description: 'A row a candle, its cells in the order of the columns' }),
  },
  jsonl: {
    type: 'application/jsonl; charset=utf-8',
    saysRange: false,
    schema: Type.Record(Type.String(), CELL, { description: 'A line: a candle by the names of the columns' }),
  },
  parquet: { type: 'application/vnd.apache.parquet', saysRange: true, schema: BINARY },
  arrow: { type: 'application/vnd.apache.arrow.file', saysRange: true, schema: BINARY },
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
