import { isInterval } from './data/interval.js'
import type { Series } from './data/service.js'

/** `[from, to)`, ms UTC. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** What the address of the page says. */
export interface Address {
  /** As files are named; undefined at `/chart`. */
  readonly symbol: string | undefined
  readonly interval: string | undefined
  /** The visible time; without it the newest candles are shown. */
  readonly range: TimeRange | undefined
  readonly isLog: boolean
  readonly isLocal: boolean
  /** What is wrong with it, for people. */
  readonly problem: string | undefined
}

/** Reads the address of the page. */
export function parseAddress({ pathname, search }: { pathname: string; search: string }): Address {
  const [symbol, interval] = pathname
    .split('/')
    .slice(2)
    .map(part => decodeURIComponent(part))
  const query = new URLSearchParams(search)
  const times = ['from', 'to'].map(name => ({ name, text: query.get(name), time: parseTime(query.get(name)) }))
  const [from, to] = times.map(({ time }) => time)
  const wrong = times.find(({ text, time }) => text && time === undefined)
  let problem: string | undefined
  if (wrong)
    problem = `“${wrong.name}” in the address is not a time: “${wrong.text}”. Expected one like 2024-05-01T12:00Z.`
  else if (from !== undefined && to !== undefined && from >= to) problem = '“from” in the address is not before “to”.'
  return {
    symbol: toSymbol(symbol ?? '') || undefined,
    interval: interval || undefined,
    range: problem || from === undefined ? undefined : { from, to: to ?? from },
    isLog: query.get('log') === '1',
    isLocal: query.get('tz') === 'local',
    problem,
  }
}

/** A symbol as people write it (`btcusdt`, `BTC/USDT`, `BTC-USDT`) as files are named; anything else composed and in upper case. */
export function toSymbol(text: string): string {
  const name = text.trim().replace(/[/_-]/g, '').normalize('NFC')
  // A letter that has no upper case, or none without a mark, stays.
  const upper = name.replace(/\p{L}/gu, letter => {
    const large = letter.toUpperCase().normalize('NFC')
    return /^\p{L}+$/u.test(large) ? large : letter
  })
  return upper.normalize('NFC')
}

/** ISO text (a year, a month, a date, or with minutes; UTC unless it says otherwise) or ms. */
function parseTime(text: string | null): number | undefined {
  if (text === null) return undefined
  const hasZone = /T.*(Z|[+-]\d\d:?\d\d)$/i.test(text)
  const isIso = /^\d{4}(-\d\d(-\d\d(T\d\d:\d\d.*)?)?)?$/i.test(text)
  const time = isIso
    ? Date.parse(text.includes('T') && !hasZone ? `${text}Z` : text)
    : Number(text.trim() || Number.NaN)
  // Dates have years of four digits.
  return time >= 0 && time < Date.UTC(10_000, 0) ? time : undefined
}

/** `2024-05-01T12:00Z`, with seconds where there are any. */
export function formatTime(time: number): string {
  return new Date(time).toISOString().replace(/(:00)?\.000Z$/, 'Z')
}

/** The address of a series, with what differs from the defaults. */
export function formatAddress(
  { symbol, interval }: Series,
  { range, isLog, isLocal }: Pick<Address, 'range' | 'isLog' | 'isLocal'>,
): string {
  const query = [
    ...(range ? [`from=${formatTime(range.from)}`, `to=${formatTime(range.to)}`] : []),
    ...(isLog ? ['log=1'] : []),
    ...(isLocal ? ['tz=local'] : []),
  ]
  const path = `/chart/${encodeURIComponent(symbol)}/${encodeURIComponent(interval)}`
  return query.length > 0 ? `${path}?${query.join('&')}` : path
}

/** The series that an address names; undefined for what cannot be one. The server knows more about names than this. */
export function knownSeries(symbol: string, interval: string): Series | undefined {
  return isInterval(interval) && /^[\p{L}\p{M}\p{Nd}]{2,40}$/u.test(symbol) ? { symbol, interval } : undefined
}
