import type { Series } from '../../candles/series.js'
import { toSymbolName } from '../../candles/symbols.js'
import { parseRange, type TimeRange } from '../../candles/time-range.js'
import { ROOT } from './service.js'

export interface Address {
  readonly symbol: string | undefined
  readonly interval: string | undefined
  /** The visible time; without one the newest candles are shown. */
  readonly range?: TimeRange | undefined
  readonly isLog: boolean
  readonly isLocal: boolean
  /** What is wrong with it, for people. */
  readonly problem?: string | undefined
}

/** Times are read as `--from`, `--to` and `--last` of the command line; `now`, ms UTC, is the present. */
export function parseAddress({ pathname, search }: { pathname: string; search: string }, now = Date.now()): Address {
  const [symbol = '', interval] = pathname.slice(ROOT.length).split('/').slice(1).map(decodeURIComponent)
  const query = new URLSearchParams(search)
  const [from, to, last] = ['from', 'to', 'last'].map(name => query.get(name) ?? undefined)
  const named = {
    symbol: toSymbolName(symbol) || undefined,
    interval: interval || undefined,
    isLog: query.get('log') === '1',
    isLocal: query.get('tz') === 'local',
  }
  if (from === undefined && to === undefined && last === undefined) return named
  try {
    const { fromTime, toTime } = parseRange({ from, to, last }, now)
    return { ...named, range: { fromTime, toTime: last === undefined ? toTime : Math.min(toTime, now) } }
  } catch (error) {
    return { ...named, problem: (error as Error).message }
  }
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
    ...(range ? [`from=${formatTime(range.fromTime)}`, `to=${formatTime(range.toTime)}`] : []),
    ...(isLog ? ['log=1'] : []),
    ...(isLocal ? ['tz=local'] : []),
  ].join('&')
  return `${ROOT}chart/${encodeURIComponent(symbol)}/${encodeURIComponent(interval)}${query && `?${query}`}`
}
