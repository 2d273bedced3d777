import type { Allocate } from '../fs/read-file.js'
import { windowPath } from '../klines/paths.js'
import { type Series, windowOf } from '../klines/series.js'
import { windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'

/** When the first candle opens that the mirror has or had of a series, ms UTC. Of its window only the beginning is read. */
export function findFirst(mirror: Mirror, series: Series): number | undefined {
  const recorded = mirror.record.seriesCandles(series)?.firstOpenTime ?? Infinity
  const pattern = /^\s*\[\s*\[\s*(\d{1,15})\s*,/
  const time = readTime(mirror, series, mirror.contents.firstPopulated(series), pattern, size =>
    Buffer.allocUnsafe(Math.min(size, 100)),
  )
  const first = Math.min(recorded, time ?? Infinity)
  return first === Infinity ? undefined : first
}

/** When the newest candle opens that the mirror has or had of a series, ms UTC. */
export function findNewest(mirror: Mirror, series: Series): number | undefined {
  const recorded = mirror.record.seriesCandles(series)?.lastOpenTime ?? -Infinity
  const time = readTime(mirror, series, mirror.contents.lastPopulated(series), /\[\s*(\d{1,15})\s*,[^[\]]*\]\s*\]\s*$/)
  const newest = Math.max(recorded, time ?? -Infinity)
  return newest === -Infinity ? undefined : newest
}

/** The open time that a pattern finds in a window, if it lies in it: a corrupt file says nothing. */
function readTime(
  mirror: Mirror,
  series: Series,
  startDate: string | undefined,
  pattern: RegExp,
  allocate?: Allocate,
): number | undefined {
  if (startDate === undefined) return undefined
  const window = windowOf(series, startDate)
  const file = mirror.files.read(windowPath(window), allocate)
  // The decoder drops a byte order mark.
  const text = file.state === 'file' ? new TextDecoder().decode(file.bytes.subarray(-1_000)) : ''
  const time = Number(pattern.exec(text)?.[1])
  const { startTime, endTime } = windowSpan(window)
  return time >= startTime && time < endTime ? time : undefined
}
