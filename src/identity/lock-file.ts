import { readFile } from 'node:fs/promises'
import { toSourceName } from '../candles/base-url.js'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { type Interval, isInterval, mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import { isObject, parseObject } from '../candles/json.js'
import { seriesName } from '../candles/series.js'
import { showValue, trimPeriod } from '../candles/text.js'
import { describeErrno, errnoCode } from '../fs/errno.js'
import { isFingerprint, type SeriesFingerprint } from '../rows/fingerprint.js'

const VERSION = 1
/** The keys of a series and of what is in it, in the order in which they are written. */
const KEYS = 'candles fingerprint firstOpenTime from interval lastOpenTime range sha256 symbol to year years'.split(' ')

/** Candles of a series that can no longer change. */
export interface LockedSeries extends SeriesFingerprint {
  readonly interval: Interval
  /** Their open times: `from` is part of it and `to` is not, ms UTC. */
  readonly range: { readonly from: number; readonly to: number }
}

export interface Lock {
  /** The base address that the candles come from; null for a folder that does not say it. */
  readonly source: string | null
  readonly series: readonly LockedSeries[]
}

/** The lock as bytes: the same candles have the same bytes. */
export function encodeLock({ source, series }: Lock): Buffer {
  const sorted = [...series].sort((a, b) => Buffer.compare(Buffer.from(seriesName(a)), Buffer.from(seriesName(b))))
  const lines = sorted.map(one => `    ${JSON.stringify(one, KEYS)}`)
  return Buffer.from(
    `{\n  "series": [\n${lines.join(',\n')}\n  ],\n  "source": ${JSON.stringify(source)},\n  "version": ${VERSION}\n}\n`,
  )
}

/** Throws `bad_input` for any other file, and for a lock that is damaged or of a later version. */
export async function readLock(path: string): Promise<Lock> {
  try {
    return parseLock(await readFile(path))
  } catch (error) {
    const [reason, suggestions] = isKlinesError(error)
      ? [`is no lock: ${trimPeriod(error.message)}`, error.suggestions]
      : [errnoCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${describeErrno(error)}`, []]
    throw new KlinesError('bad_input', `${path} ${reason}.`, { cause: error, suggestions, data: { file: path } })
  }
}

export function parseLock(bytes: Uint8Array): Lock {
  const lock = parseObject(Buffer.from(bytes).toString())
  if (lock === undefined) throw badLock('it is no JSON object in UTF-8; it may be cut or damaged')
  const { version, source, series } = lock
  if (version !== VERSION) throw badLock(`it is not of version ${VERSION}, which this program reads`)
  const name = typeof source === 'string' ? toSourceName(source) : null
  if (name !== source) throw badLock(`its source is ${showValue(source)}. Expected ${name}`)
  if (!Array.isArray(series) || series.length === 0) throw badLock('it has no list of series')
  const names = new Set<string>()
  for (const [index, one] of series.entries()) {
    const place = `series ${index + 1}`
    if (!isFingerprint(one)) throw badLock(`${place} is damaged: its values do not make its fingerprint`)
    if (!isRanged(one)) throw badLock(`${place} is damaged: its interval, range and times do not fit together`)
    if (names.has(seriesName(one))) throw badLock(`${seriesName(one)} is there twice`)
    names.add(seriesName(one))
  }
  return { source: name, series }
}

function isRanged(value: SeriesFingerprint & { readonly range?: unknown }): value is LockedSeries {
  const { interval, firstOpenTime, lastOpenTime, range } = value
  if (!isInterval(interval) || !isObject(range)) return false
  const [from, to] = [Number(range.from ?? Number.NaN), Number(range.to ?? Number.NaN)]
  const isWithin = from >= 0 && from <= firstOpenTime && firstOpenTime <= lastOpenTime && lastOpenTime < to
  return isWithin && to <= nextOpenTime(interval, lastOpenTime)
}

function badLock(reason: string): KlinesError {
  return new KlinesError('bad_input', `${reason}.`, {
    suggestions: ['Get the file again, or write it again with klines lock.'],
  })
}

/** The candles of a year in a lock and here; undefined where there are none. */
export type YearChange = ReturnType<typeof compareYears>[number]

/** The years whose candles differ, ascending. */
export function compareYears(locked: SeriesFingerprint, found: SeriesFingerprint | undefined) {
  const [old, next] = [locked, found].map(one => new Map(one?.years.map(digest => [digest.year, digest])))
  return [...new Set([...old.keys(), ...next.keys()])]
    .sort()
    .map(year => ({ year, locked: old.get(year), found: next.get(year) }))
    .filter(({ locked, found }) => locked?.sha256 !== found?.sha256)
}

/** The ends of a series in a lock: open times of its candles, and of its range. */
export const ENDS = ['firstOpenTime', 'lastOpenTime', 'from', 'to'] as const
export type EndChange = ReturnType<typeof compareEnds>[number]

/** Where the range of a lock ends with its last candle, ms UTC; beside one off the grid, the next one may open before that: at `bound`. */
export function endOfLock(interval: Interval, lastOpenTime: number, bound: number): number {
  const end = nextOpenTime(interval, lastOpenTime)
  return mayBeOffGrid(lastOpenTime) ? Math.min(end, bound) : end
}

/** The ends that differ, ms UTC; those of the range are what `klines lock` would write. */
export function compareEnds(locked: LockedSeries, { firstOpenTime, lastOpenTime }: SeriesFingerprint) {
  const { interval, range } = locked
  const to = endOfLock(interval, lastOpenTime, range.to)
  const old = { ...locked, ...range }
  const found = { firstOpenTime, lastOpenTime, from: firstOpenTime, to }
  return ENDS.map(end => ({ end, locked: old[end], found: found[end] })).filter(({ locked, found }) => locked !== found)
}
