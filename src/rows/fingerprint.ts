import type { Hash } from 'node:crypto'
import { COLUMN_KINDS } from '../candles/columns.js'
import { KlinesError } from '../candles/errors.js'
import { parseLength } from '../candles/intervals.js'
import { isObject } from '../candles/json.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import { isSymbol } from '../candles/symbols.js'
import type { KlineBatch } from './kline-batch.js'
import { intervalName } from './target-interval.js'
import { WasmRowWriter } from './wasm/row-writer.js'

const VERSION = 'klines:1:'

/** The candles of a series that open in a calendar year, UTC. */
export interface YearDigest {
  readonly year: number
  readonly candles: number
  /** SHA-256 of their canonical lines, in hex. */
  readonly sha256: string
}

/** Which candles a series has: the same candles have the same fingerprint, whatever they were read from. */
export interface SeriesFingerprint extends SeriesLabel {
  /** `klines:1:` and a SHA-256 in hex. */
  readonly fingerprint: string
  readonly candles: number
  /** Open times of the first and the last candle, ms UTC. */
  readonly firstOpenTime: number
  readonly lastOpenTime: number
  /** Ascending; years without candles are left out. */
  readonly years: readonly YearDigest[]
}

/** The fingerprints of some series. */
export interface FingerprintReport<Fingerprint extends SeriesFingerprint = SeriesFingerprint> {
  readonly series: readonly Fingerprint[]
  /** That of all of them, in any order: `klines:1:set:` and a SHA-256 in hex; undefined for one series. */
  readonly set: string | undefined
}

/** Makes the fingerprint of a series, in constant memory. */
export class Fingerprinter {
  private readonly years: ReturnType<typeof beginYear>[] = []
  private firstOpenTime: number | undefined
  private lastOpenTime = -Infinity

  constructor(private readonly series: SeriesLabel) {}

  /** Adds the next candles in order of time. */
  add(batch: KlineBatch): void {
    this.firstOpenTime ??= batch.firstOpenTime
    for (let rest = batch; rest.length > 0; ) {
      const openTime = rest.openTime(0)
      let last = this.years.at(-1)
      if (last === undefined || openTime >= last.endTime) {
        last = beginYear(openTime)
        this.years.push(last)
      }
      const { hash, endTime } = last
      const part = rest.slice(-Infinity, endTime)
      CANDLE_LINES.write(part, lines => hash.update(lines))
      last.candles += part.length
      rest = rest.slice(endTime, Infinity)
    }
    this.lastOpenTime = batch.lastOpenTime ?? this.lastOpenTime
  }

  /** The fingerprint of all candles, after which none can be added; undefined without candles. */
  finish(): SeriesFingerprint | undefined {
    const { series, firstOpenTime, lastOpenTime } = this
    if (firstOpenTime === undefined) return undefined
    const years = this.years.map(({ year, candles, hash }) => ({ year, candles, sha256: hash.digest('hex') }))
    return describeSeries(series, years, { firstOpenTime, lastOpenTime })
  }
}

function beginYear(openTime: number) {
  const year = new Date(openTime).getUTCFullYear()
  return { year, candles: 0, endTime: Date.UTC(year + 1, 0), hash: newHash() }
}

/** The fingerprint of the candles of some years, which ascend. */
export function describeSeries(
  { symbol, interval }: SeriesLabel,
  years: readonly YearDigest[],
  ends: Pick<SeriesFingerprint, 'firstOpenTime' | 'lastOpenTime'>,
): SeriesFingerprint {
  const label = { symbol, interval: intervalName(interval) }
  const lines = [`klines 1 ${seriesName(label)}`, ...years.map(({ year, sha256 }) => `${year} ${sha256}`)]
  const candles = years.reduce((sum, { candles }) => sum + candles, 0)
  return { ...label, fingerprint: VERSION + hashLines(lines), candles, ...ends, years }
}

/** The fingerprint of a set of series, in any order. Throws `bad_option` when a series is there twice. */
export function fingerprintSet(all: readonly Pick<SeriesFingerprint, 'symbol' | 'interval' | 'fingerprint'>[]): string {
  const names = all.map(seriesName)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new KlinesError('bad_option', `${twice} is there twice. Expected each series once.`)
  const lines = all.map(({ fingerprint }, index) => Buffer.from(`${names[index]} ${fingerprint}`))
  return `${VERSION}set:${hashLines(lines.sort(Buffer.compare))}`
}

/** Fingerprints with that of their set. Throws like `fingerprintSet`. */
export function reportFingerprints<Fingerprint extends SeriesFingerprint>(
  series: readonly Fingerprint[],
): FingerprintReport<Fingerprint> {
  return { series, set: series.length > 1 ? fingerprintSet(series) : undefined }
}

/** Whether foreign JSON is the fingerprint of a series: made of its years, with names in their one spelling. */
export function isFingerprint(value: unknown): value is SeriesFingerprint {
  if (!isObject(value)) return false
  const { symbol, interval, fingerprint, candles, firstOpenTime, lastOpenTime, years } = value
  if (!isSymbol(symbol) || typeof interval !== 'string' || !parseLength(interval)) return false
  if (!isTime(firstOpenTime) || !isTime(lastOpenTime) || !Array.isArray(years) || !years.every(isYear)) return false
  const made = describeSeries({ symbol, interval }, years, { firstOpenTime, lastOpenTime })
  return made.interval === interval && made.fingerprint === fingerprint && made.candles === candles
}

function isYear(value: unknown): value is YearDigest {
  if (!isObject(value)) return false
  const { year, candles, sha256 } = value
  const isCounted = Number.isSafeInteger(year) && Number.isSafeInteger(candles) && Number(candles) > 0
  return isCounted && /^[0-9a-f]{64}$/.test(String(sha256))
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && !Number.isNaN(new Date(Number(value)).getTime())
}

function hashLines(lines: readonly (string | Buffer)[]): string {
  const hash = newHash()
  for (const line of lines) hash.update(line).update('\n')
  return hash.digest('hex')
}

const SLOTS = COLUMN_KINDS.slice(0, -1).map((kind, column) => {
  return { literal: column === 0 ? '' : ',', column, isTrimmed: kind === 'decimal' }
})

/**
 * Writes the lines that fingerprints are made of: the eleven cells before `ignore` joined by commas, and a line feed. Integers are as they
 * are; a decimal loses the zeros that do not change its value, and a point without digits.
 */
export const CANDLE_LINES = new WasmRowWriter(SLOTS, '\n')

/** In hex. */
export function sha256(bytes: Uint8Array): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', bytes)
}

/** A SHA-256 to feed. Its module is loaded here, as that takes 7 ms. */
export function newHash(): Hash {
  return process.getBuiltinModule('node:crypto').createHash('sha256')
}
