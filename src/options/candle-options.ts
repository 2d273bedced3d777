import { entriesOf, type Option } from './option.js'

const TIME_FORMS =
  'UTC unless it has an offset: 2024, 2024-01, 2024-01-31, 2024-01-31T12:00; now, today, yesterday, -7d; or a Unix time ' +
  'of 10 digits (s) or 13 digits (ms)'
const RANGE = { takes: 'text', group: 'which candles', helpGroup: 'range' } as const
const MAKE = { group: 'which candles' } as const
/** Of each series, and of what `resample` makes; coverage and gaps are those of the whole range. */
const COUNT = {
  takes: 'number',
  range: { min: 1, max: 1_000_000_000 },
  unit: 'candles',
  values: ['20', '100', '1000'],
  placeholder: 'N',
  group: 'which candles',
  helpGroup: 'range',
} as const

/** Which candles a file or a report has: `RangeText` and `ResampleRequest` of the library. What uses the values checks them. */
export const CANDLE_OPTIONS = {
  from: {
    ...RANGE,
    values: ['today', 'yesterday', '-7d', '-30d'],
    placeholder: 'TIME',
    summary:
      'First open time, UTC: 2024, 2024-01-31, 2024-01-31T12:00, now, today, yesterday, -7d or a Unix time. Default: the first candle.',
    description: `First open time. ${TIME_FORMS}. Default: the first candle`,
    example: '2025-01-01',
  },
  to: {
    ...RANGE,
    values: ['now', 'today', 'yesterday'],
    placeholder: 'TIME',
    summary: 'End of the range, exclusive; same forms as --from. Default: now.',
    description:
      'End of the open times, which is not part of the range; in the forms of from. Default: the last candle',
    example: '2025-02-01',
  },
  last: {
    ...RANGE,
    values: ['7d', '30d', '90d', '1y'],
    placeholder: 'LENGTH',
    summary: 'Length of the range before its end, instead of --from: 36h, 90d, 2w, 6M, 1y.',
    description: 'Length of time before to, or before now, such as 90d: a number and h, d, w, M or y. Instead of from',
  },
  resample: {
    ...MAKE,
    takes: 'text',
    values: ['45m', '3h', '1d', '2d', '1w', '2w', '1M', '1q', '1y'],
    placeholder: 'LENGTH',
    summary: 'Combine candles into longer ones: a number and m, h, d, w, M, q or y, such as 3h or 1q.',
    description: 'Longer candles, built from these: a number and m, h, d, w, M, q or y',
    example: '1d',
  },
  partial: {
    ...MAKE,
    takes: 'switch',
    summary: 'With --resample, keep the first and last candle even if incomplete.',
    description: 'Whether resample keeps incomplete candles at either end. Default: false',
    example: false,
  },
  limit: {
    ...COUNT,
    summary: 'Write only the first N candles of each series.',
    description: 'Number of candles to write: the first ones of the range. Default: all',
  },
  tail: {
    ...COUNT,
    summary: 'Write only the last N candles of each series.',
    description: 'Number of candles to write: the last ones of the range. Instead of limit',
  },
} as const satisfies Readonly<Record<string, Option>>

/** The entries of the table, with the names of their flags. */
export const CANDLE_ENTRIES = entriesOf(CANDLE_OPTIONS)
