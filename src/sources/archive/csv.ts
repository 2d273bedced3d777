import { DAY_MS } from '../../candles/intervals.js'
import { FetchError } from '../fetch-error.js'

/** Rows as JSON text, by the start of their UTC day, ms. */
export type DayRows = ReadonlyMap<number, string[]>

/** Times are ms, and µs from 2025 on; both in one file. */
const FIRST_MICROSECOND = 1e14

/**
 * Reads the CSV of the archive to rows in the form of a window, for the codec to check. The twelfth cell has another meaning in old files,
 * and `"0"` in every answer of the exchange. Throws an invalid `FetchError` for a line without a time.
 */
export async function readDays(chunks: AsyncIterable<Buffer>): Promise<DayRows> {
  const days = new Map<number, string[]>()
  let lines = 0
  const add = (line: string) => {
    if (line === '' || (lines++ === 0 && !/^\d/.test(line))) return
    const [open, ...cells] = line.split(',')
    const openTime = toMs(open)
    if (!Number.isSafeInteger(openTime)) throw new FetchError('invalid', `line ${lines} of the file has no time`)
    const day = openTime - (openTime % DAY_MS)
    const rows = days.get(day)
    if (rows) rows.push(toJson(openTime, cells))
    else days.set(day, [toJson(openTime, cells)])
  }
  let rest = ''
  for await (const chunk of chunks) {
    const [first, ...following] = chunk.toString('latin1').split(/\r?\n/)
    rest += first
    for (const line of following) {
      add(rest)
      rest = line
    }
  }
  add(rest.trimEnd())
  return days
}

function toMs(text: string): number {
  const time = Number(text || Number.NaN)
  return time > FIRST_MICROSECOND ? Math.floor(time / 1000) : time
}

function toJson(openTime: number, cells: readonly string[]): string {
  const [open, high, low, close, volume, closeTime, quote, count, takers, takersQuote, ...ignored] = cells
  if (ignored.length !== 1) return '[]'
  const [base, quoted] = [`"${open}","${high}","${low}","${close}","${volume}"`, `"${takers}","${takersQuote}"`]
  return `[${openTime},${base},${toMs(closeTime)},"${quote}",${count},${quoted},"0"]`
}
