import type { WindowTimes } from '../trees/window-ends.js'

/** A version of a window. The file of the window is as recorded if it has these bytes. */
export interface RecordedWindow extends WindowTimes {
  readonly kind: 'window'
  /** Of its file, relative to the root: `api/klines/1h/BTCUSDT/2024-01-01.json`. */
  readonly path: string
  /** Of its bytes. */
  readonly size: number
  /** SHA-256 of its bytes, in hex. */
  readonly sha256: string
}

/** The candles that the mirror has had of a series. */
export interface RecordedCandles {
  readonly kind: 'candles'
  /** Of its windows, relative to the root: `api/klines/1h/BTCUSDT`. */
  readonly folder: string
  /** Ms UTC. */
  readonly firstOpenTime: number
  /** Ms UTC. */
  readonly lastOpenTime: number
}

/** A line of the record. */
export type RecordLine = RecordedWindow | RecordedCandles

/** A longer line is no line of the record, bytes. */
export const MAX_LINE_BYTES = 512

// Each field has one form, and a line ends with 13 digits: no part of a torn line is a line.
const TIME = '([0-9]{13})'
const WINDOW = new RegExp(`^window (api/klines/\\S+) ([0-9]{1,8}) ([0-9a-f]{64}) ${TIME} ${TIME}$`)
const CANDLES = new RegExp(`^candles (api/klines/\\S+) ${TIME} ${TIME}$`)

/** Parses a line without its end; undefined for one that is torn, or of another version. */
export function parseRecordLine(text: string): RecordLine | undefined {
  const window = WINDOW.exec(text)
  if (window) {
    const [, path, size, sha256, time, confirmed] = window
    return { kind: 'window', path, size: Number(size), sha256, time: Number(time), confirmed: Number(confirmed) }
  }
  const candles = CANDLES.exec(text)
  if (!candles) return undefined
  const [, folder, firstOpenTime, lastOpenTime] = candles
  return { kind: 'candles', folder, firstOpenTime: Number(firstOpenTime), lastOpenTime: Number(lastOpenTime) }
}

/** The line with its end. */
export function formatRecordLine(line: RecordLine): string {
  if (line.kind === 'candles') {
    return `candles ${line.folder} ${formatTime(line.firstOpenTime)} ${formatTime(line.lastOpenTime)}\n`
  }
  const { path, size, sha256, time, confirmed } = line
  return `window ${path} ${size} ${sha256} ${formatTime(time)} ${formatTime(confirmed)}\n`
}

/** Whole ms in 13 digits: up to the year 2286. */
function formatTime(time: number): string {
  return String(Math.min(Math.max(Math.floor(time), 0), 1e13 - 1)).padStart(13, '0')
}
