import { isKlinesError } from '../klines/errors.js'
import { isObject } from '../klines/json.js'
import { intervalName } from '../klines/resample/target-interval.js'
import { isSymbol } from '../klines/symbols.js'
import { describeSeries, type SeriesFingerprint, type YearDigest } from './fingerprint.js'

const SHA_256 = /^[0-9a-f]{64}$/
/** The times that a date can have, ms. */
const MAX_TIME = 8.64e15

/** Whether a value of JSON that anybody may have written is the fingerprint of a series: made of its years, and of names that are none else. */
export function isFingerprint(value: unknown): value is SeriesFingerprint {
  if (!isObject(value)) return false
  const { symbol, interval, fingerprint, candles, firstOpenTime, lastOpenTime, years } = value
  if (!isSymbol(symbol) || !isIntervalName(interval)) return false
  if (!isTime(firstOpenTime) || !isTime(lastOpenTime) || !Array.isArray(years) || !years.every(isYear)) return false
  const made = describeSeries({ symbol, interval }, years, { firstOpenTime, lastOpenTime })
  return made.fingerprint === fingerprint && made.candles === candles
}

function isIntervalName(value: unknown): value is string {
  try {
    return typeof value === 'string' && intervalName(value) === value
  } catch (error) {
    if (isKlinesError(error, 'unknown_interval')) return false
    throw error
  }
}

function isYear(value: unknown): value is YearDigest {
  if (!isObject(value)) return false
  const { year, candles, sha256 } = value
  return (
    Number.isSafeInteger(year) && Number.isSafeInteger(candles) && Number(candles) > 0 && SHA_256.test(String(sha256))
  )
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(Number(value)) <= MAX_TIME
}
