import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import pMap from 'p-map'
import { type Entry, fromBufferPromise } from 'yauzl'
import type { Market } from '../../candles/base-url.js'
import { KlinesError } from '../../candles/errors.js'
import { DAY_MS, isMinutes, nextOpenTime } from '../../candles/intervals.js'
import type { Series, WindowRef } from '../../candles/series.js'
import { trimPeriod } from '../../candles/text.js'
import { parseDate, windowSpan } from '../../candles/windows.js'
import { cleanText, FetchError, toStatusError } from '../fetch-error.js'
import type { Fetcher } from '../fetcher.js'
import type { WholeResponse } from '../transport.js'

/** With fewer missing days the exchange's own answers are as fast. */
const FEWEST_DAYS = 15

/** The wanted days of a calendar month of a series. */
export interface ArchiveMonth {
  readonly series: Series
  /** `2024-01`. */
  readonly month: string
  /** ms UTC. */
  readonly endTime: number
  /** Windows of one day each, ascending. */
  readonly windows: readonly WindowRef[]
}

/**
 * The months that the archive is asked for. `windows`: of one series, ascending, without a file. The newest days are left out: they are
 * not final a day before `now`, ms UTC. `archivedFrom`: the first day that the archive has.
 */
export function archiveMonths(windows: readonly WindowRef[], now: number, archivedFrom = ''): ArchiveMonth[] {
  const minutes = windows.filter(({ interval, startDate }) => isMinutes(interval) && startDate >= archivedFrom)
  const days = minutes.filter(window => windowSpan(window).endTime <= now - DAY_MS)
  if (days.length < FEWEST_DAYS) return []
  const months = new Map<string, WindowRef[]>()
  for (const window of days) {
    const month = window.startDate.slice(0, 7)
    months.set(month, [...(months.get(month) ?? []), window])
  }
  return [...months].map(([month, windows]) => {
    const endTime = nextOpenTime('1M', parseDate(`${month}-01`))
    return { series: windows[0], month, endTime, windows }
  })
}

/** A zip of the archive, for a month or for one day of it. */
export interface Zip {
  readonly windows: readonly WindowRef[]
  /** Its bytes, or why there are none. */
  readonly body: Buffer | string
}

/** Monthly files come in the first half of the next month. */
const MAY_LACK_ZIP_MS = 45 * DAY_MS
export const NO_ZIP = 'the archive has no zip of it'
const MOST_IN_A_ROW = 10
export const ZIPS_AT_ONCE = 8

/** Fetches the zip of a month, or those of its days where that one is not there yet. After ten failures in a row no further one. */
export function zipFetcher(fetcher: Fetcher, { archive }: Market, warn: (text: string) => void) {
  let inARow = 0
  const fetchBody = async (series: Series, date: string, signal: AbortSignal): Promise<Buffer | string> => {
    if (inARow >= MOST_IN_A_ROW) return 'the archive was not asked any more'
    try {
      const body = await fetcher.get({ path: zipPath(archive, series, date), accept: acceptZip, signal })
      inARow = 0
      return body
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof FetchError || error instanceof KlinesError)) throw error
      const failure = error.cause instanceof FetchError ? error.cause : error
      if (failure instanceof FetchError && failure.status === 404) {
        inARow = 0
        return NO_ZIP
      }
      const reason = trimPeriod(failure.message)
      if (++inARow === MOST_IN_A_ROW)
        warn(`The archive at ${fetcher.name} failed ${inARow} times in a row: ${reason}. The exchange gives the rest.`)
      return reason
    }
  }
  return async (month: ArchiveMonth, now: number, signal: AbortSignal): Promise<Zip[]> => {
    const { series, endTime, windows } = month
    if (endTime <= now) {
      const body = await fetchBody(series, month.month, signal)
      if (body !== NO_ZIP || endTime <= now - MAY_LACK_ZIP_MS) return [{ windows, body }]
    }
    const fetchDay = async (window: WindowRef) => {
      return { windows: [window], body: await fetchBody(series, window.startDate, signal) }
    }
    // A zip that waits for its turn may not be needed any more.
    return pMap(windows, fetchDay, { concurrency: ZIPS_AT_ONCE })
  }
}

/** `date`: `2024-01` or `2024-01-31`. */
function zipPath(archive: string | undefined, { symbol, interval }: Series, date: string): string {
  const folder = `data/${archive}/${date.length === 7 ? 'monthly' : 'daily'}/klines`
  return encodeURI(`${folder}/${symbol}/${interval}/${symbol}-${interval}-${date}.zip`)
}

function acceptZip(response: WholeResponse): Buffer {
  const { status, body } = response
  if (status !== 200) throw toStatusError(response)
  if (body.toString('latin1', 0, 2) === 'PK') return body
  throw new FetchError('invalid', 'the answer is no zip', { status })
}

/** A month of 1m candles has 7 MB. */
const MAX_CSV_BYTES = 32 * 1024 * 1024

/**
 * The only CSV file of a zip, or its only file. Its name is not looked at: the rows are checked. Throws an invalid `FetchError` for any
 * other zip.
 */
export async function unzip(zip: Buffer): Promise<Buffer> {
  const refuse = (reason: string, cause?: unknown) => new FetchError('invalid', `the zip ${reason}`, { cause })
  try {
    const file = await fromBufferPromise(zip, { lazyEntries: true, decodeStrings: false })
    const entries: Entry[] = []
    for await (const entry of file.eachEntry()) entries.push(entry)
    const isCsv = ({ fileNameRaw }: Entry) => fileNameRaw.toString('latin1').toLowerCase().endsWith('.csv')
    const [entry, ...others] = entries.length === 1 ? entries : entries.filter(isCsv)
    if (entry === undefined || others.length > 0) throw refuse(`has ${entries.length} files`)
    if (entry.uncompressedSize > MAX_CSV_BYTES) throw refuse(`unpacks to ${entry.uncompressedSize} bytes`)
    const content = await buffer(await file.openReadStreamPromise(entry))
    // yauzl checks sizes and the deflate stream.
    if (crc32(content) !== entry.crc32) throw refuse('is damaged: its CRC is wrong')
    return content
  } catch (error) {
    throw error instanceof FetchError ? error : refuse(`is damaged: ${cleanText((error as Error).message)}`, error)
  }
}
