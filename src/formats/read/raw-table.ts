import { basename } from 'node:path'
import { shiftPoint } from '../../candles/decimals.js'
import { parseObject } from '../../candles/json.js'
import { parseIntervalSegment } from '../../candles/paths.js'
import type { SeriesLabel } from '../../candles/series.js'
import { isSymbol, splitSymbol, toSymbolName } from '../../candles/symbols.js'
import { isFingerprint, type SeriesFingerprint } from '../../rows/fingerprint.js'
import { intervalName } from '../../rows/target-interval.js'
import { badInput } from './errors.js'

/** The cells of a row in the order of the columns: texts, numbers and integers, as the format has them. */
export type RawRow = readonly unknown[]

/** A file as a table whose cells nobody has checked yet. */
export interface RawTable {
  readonly columns: readonly string[]
  readonly facts?: FileFacts
  /** Whether it has a form that klines does not write, or that is whole whatever its rows are: a wrong row is no damage. */
  readonly isForeign?: boolean
  /** Whether a column has doubles, if the format says that. */
  readonly hasDoubles?: boolean
  /** Reads the rows in order, many at once: memory does not grow with their number. */
  rows(): AsyncIterable<readonly RawRow[]>
}

interface FileFacts {
  readonly symbol?: unknown
  readonly interval?: unknown
  /** The fingerprints of the candles that it was made from. */
  readonly fingerprints?: readonly SeriesFingerprint[] | undefined
}

export function parseFacts(text: string | null | undefined): FileFacts {
  const { symbol, interval, fingerprints } = (text ? parseObject(text) : undefined) ?? {}
  const isUsable = Array.isArray(fingerprints) && fingerprints.every(isFingerprint)
  return { symbol, interval, fingerprints: isUsable ? fingerprints : undefined }
}

/** A decimal of `scale` digits after the point; a value of another type stays and is refused. */
export function formatDecimal(value: unknown, scale: number): unknown {
  if (typeof value !== 'bigint' && typeof value !== 'number') return value
  return shiftPoint(String(value), -scale)
}

/** Undefined for texts that are no names. */
export function parseLabel(symbol: unknown, interval: unknown): SeriesLabel | undefined {
  if (!isSymbol(symbol) || typeof interval !== 'string') return undefined
  try {
    return { symbol, interval: intervalName(interval) }
  } catch {
    return undefined
  }
}

/** The series in the name of a file, such as `BTCUSDT-1h.csv`, `btcusdt_1min.csv.gz`, `BTC_USDT-1h.csv` or `BTCUSDT_261225-1h.csv`. */
function parseFileName(name: string): SeriesLabel | undefined {
  const form = /^([^-_]+(?:[-_](?!\d{6}[-_])[^-_]+)?(?:[-_]\d{6})?)[-_]([^-_.]+)(?:\.\w+)+$/
  const [, pair = '', interval = ''] = form.exec(name) ?? []
  const symbol = toSymbolName(pair)
  // Another word than a quote is no part of a symbol.
  const [, quote] = pair.replace(/[-_]\d{6}$/, '').split(/[-_]/)
  if (quote !== undefined && splitSymbol(symbol)?.quote !== quote.toUpperCase()) return undefined
  return parseLabel(symbol, parseIntervalSegment(interval) ?? interval)
}

/** The series of a file whose rows do not name theirs: what it says about itself, or its name. Throws `bad_input`. */
export function nameSeries(file: string, { symbol, interval }: FileFacts = {}): SeriesLabel {
  const named = parseLabel(symbol, interval) ?? parseFileName(basename(file))
  if (named) return named
  const example = `BTCUSDT-1h${basename(file).replace(/^[^.]*/, '')}`
  throw badInput({ file }, 'neither the file nor its name says which series it has', [`Call it such as ${example}.`])
}
