import Type from 'typebox'
import { DEFAULT_PICTURE, THEMES } from '../../chart/svg/picture-options.js'
import { COMPRESSIONS } from '../../export/formats/compression.js'
import { NUMBER_TYPES, OUTPUT_COLUMNS, TIME_FORMATS } from '../../export/row-format.js'

const TIME_FORMS =
  'UTC unless it has an offset: 2024, 2024-01, 2024-01-31, 2024-01-31T12:00; now, today, yesterday, -7d; or a Unix time ' +
  'of 10 digits (s) or 13 digits (ms)'

/**
 * The query of an export, for its OpenAPI description; `parseParameters` checks the values. The examples fit together, because
 * the API reference sends all of them.
 */
export const QuerySchema = Type.Object({
  from: Type.Optional(
    Type.String({ description: `First open time. ${TIME_FORMS}. Default: the first candle`, examples: ['2025-01-01'] }),
  ),
  to: Type.Optional(
    Type.String({
      description:
        'End of the open times, which is not part of the range; in the forms of from. Default: the last candle',
      examples: ['2025-02-01'],
    }),
  ),
  last: Type.Optional(
    Type.String({
      description:
        'Length of time before to, or before now, such as 90d: a number and h, d, w, M or y. Instead of from',
    }),
  ),
  columns: Type.Optional(
    Type.String({
      description: `Names and order of the columns, joined by commas: some of ${OUTPUT_COLUMNS.join(', ')}. Default: all but symbol and interval`,
      examples: ['open_time,open,high,low,close,volume'],
    }),
  ),
  numbers: Type.Optional(
    Type.Enum([...NUMBER_TYPES], {
      type: 'string',
      description:
        'How parquet and arrow store decimals: the nearest double, DECIMAL(38,8), or text with all digits. Default: double. Text formats always have the digits of the source',
      examples: ['text'],
    }),
  ),
  compression: Type.Optional(
    Type.Enum([...COMPRESSIONS], {
      type: 'string',
      description:
        'Compression of parquet; other formats accept none alone. Default: zstd where the Node of the server has it (22.15 and later), else gzip',
      examples: ['none'],
    }),
  ),
  'time-format': Type.Optional(
    Type.Enum([...TIME_FORMATS], {
      type: 'string',
      description:
        'How text formats write times: since the epoch in ms, s or us, or ISO 8601 in UTC. Default: ms. Parquet and arrow have timestamps',
      examples: ['ms'],
    }),
  ),
  resample: Type.Optional(
    Type.String({
      description: 'Longer candles, built from these: a number and m, h, d, w, M, q or y',
      examples: ['1d'],
    }),
  ),
  partial: Type.Optional(
    Type.Boolean({
      description: 'Whether resample keeps incomplete candles at either end. Default: false',
      examples: [false],
    }),
  ),
  theme: Type.Optional(
    Type.Enum([...THEMES], { type: 'string', description: `Colours of svg. Default: ${DEFAULT_PICTURE.theme}` }),
  ),
  width: Type.Optional(Type.Integer({ description: `Pixels of svg. Default: ${DEFAULT_PICTURE.width}` })),
  height: Type.Optional(Type.Integer({ description: `Pixels of svg. Default: ${DEFAULT_PICTURE.height}` })),
  log: Type.Optional(Type.Boolean({ description: 'Whether svg has a logarithmic price axis. Default: false' })),
})
