import { expect } from 'vitest'
import { type Interval, nextOpenTime } from '../../../src/candles/intervals.js'
import { startDatesPath, windowPath } from '../../../src/candles/paths.js'
import { formatDate, knownStartDates, windowSpan } from '../../../src/candles/windows.js'
import type { CliSandbox } from '../cli/cli-sandbox.js'
import { type MadeSymbol, madeMarket } from '../exchange/made-market.js'
import { ExchangeServer } from '../servers/exchange-server.js'
import { TreeServer } from '../servers/tree-server.js'
import { putFile } from '../synthetic-tree.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Which service a mirror was downloaded from. */
export type TreeKind = 'static' | 'exchange'
export const TREE_KINDS: readonly TreeKind[] = ['static', 'exchange']

/** The finest interval of the mirrors, which no other tells about. */
export const FINEST = '15m'

/** How much is in a mirror: its intervals, the finest first, and for how long symbols are traded, days. */
export interface MirrorSize {
  readonly intervals: readonly Interval[]
  readonly days: number
}
export const SMALL: MirrorSize = { intervals: [FINEST, '30m', '1h'], days: 36 }
/** The intervals of the static service but 3d, which is counted from a symbol's listing. */
export const LARGE: MirrorSize = {
  intervals: [...SMALL.intervals, '2h', '4h', '6h', '8h', '12h', '1d', '1w', '1M'],
  days: 66,
}

/** When the candles of the mirrors end, ms UTC. */
const ENDS: Record<TreeKind, number> = {
  static: Date.parse('2025-03-12T03:00Z'),
  exchange: Date.parse('2026-04-30T04:00Z'),
}

/** Two symbols, of which the exchange has delisted one. */
function madeSymbols(kind: TreeKind, days: number): Readonly<Record<string, MadeSymbol>> {
  const from = ENDS[kind] - days * DAY
  const earlier = from - 6 * DAY - 3 * HOUR
  if (kind === 'static') return { BTCUSDT: { from }, ETHUSDT: { from: earlier } }
  return { AAAUSDT: { from }, BBBUSDT: { from: earlier, until: ENDS[kind] - 9 * DAY } }
}

/** The mirror `sound` of a sandbox, which has the time of its last download. */
export interface SoundMirror {
  readonly root: string
  readonly symbols: readonly string[]
  readonly intervals: readonly Interval[]
  /** The day from which it has all windows. */
  readonly from: string
}

/** Downloads a mirror with a record, in two runs, into `sound` of a sandbox. Its candles agree in all intervals. */
export async function makeSoundMirror(kind: TreeKind, sandbox: CliSandbox, size = SMALL): Promise<SoundMirror> {
  const { intervals, days } = size
  const made = madeSymbols(kind, days)
  const symbols = Object.keys(made)
  // Some windows before the first candle are empty.
  const from = formatDate(ENDS[kind] - (days + 20) * DAY)
  const { baseUrl, setTime, now } =
    kind === 'static' ? await serveTree(sandbox, made, intervals, Date.parse(from)) : await serveExchange(made)
  const source = ['--base-url', baseUrl, '--mirror', 'sound', '--from', from]
  // The exchange has to say twice that a window ends early.
  for (const time of [now - 2 * HOUR, now]) {
    sandbox.now = time
    setTime(time)
    const run = await sandbox.call(['download', ...symbols, '-i', intervals.join(), ...source, '-q'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
  }
  return { root: sandbox.path('sound'), symbols, intervals, from }
}

/** A static service that renders its files once a day. */
async function serveTree(
  sandbox: CliSandbox,
  made: Readonly<Record<string, MadeSymbol>>,
  intervals: readonly Interval[],
  from: number,
) {
  const tree = sandbox.path('tree')
  const until = ENDS.static
  const [rendered, now] = [until + HOUR / 4, until + 9 * HOUR]
  const market = madeMarket(made, { until })
  putFile(tree, 'api/klines/symbols.json', market.symbols(), rendered)
  for (const interval of intervals) {
    const startDates = knownStartDates(interval)
    putFile(tree, startDatesPath(interval), startDates, rendered)
    for (const symbol of market.symbols()) {
      const rows = (market.rows(symbol, interval) ?? []).filter(([time]) => nextOpenTime(interval, time) <= until)
      for (const startDate of startDates) {
        const { startTime, endTime } = windowSpan({ interval, startDate })
        if (endTime <= from || startTime > now) continue
        const content = rows.filter(([openTime]) => openTime >= startTime && openTime < endTime)
        putFile(tree, windowPath({ symbol, interval, startDate }), content, rendered)
      }
    }
  }
  const server = await TreeServer.start(tree)
  const setTime = (time: number) => {
    server.date = time
  }
  return { baseUrl: server.url, setTime, now }
}

/** An exchange with one symbol that is traded, and one that was. */
async function serveExchange(made: Readonly<Record<string, MadeSymbol>>) {
  const server = await ExchangeServer.start(madeMarket(made))
  server.weightLimit = Number.POSITIVE_INFINITY
  server.sendsWeight = false
  const setTime = (time: number) => {
    server.now = time
  }
  // The last candles of all intervals of minutes and hours have just closed.
  return { baseUrl: `binance:${server.url}`, setTime, now: ENDS.exchange + HOUR / 120 }
}
