import { EventEmitter, once, setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nextOpenTime, parseInterval } from '../candles/intervals.js'
import { windowPath } from '../candles/paths.js'
import { type Series, seriesName, windowOf } from '../candles/series.js'
import { parseSymbol } from '../candles/symbols.js'
import { parseInstant } from '../candles/time-range.js'
import { startDateAt, windowSpan } from '../candles/windows.js'
import { type Followed, followRound, nextCandle } from '../engine/follow.js'
import { mirrorRun, type Run } from '../engine/run.js'
import { knownDates } from '../mirror/status.js'
import { SETTLING_MS } from '../rows/closed-rows.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { decodeWindow } from '../rows/window-codec.js'
import { leavingSignal } from './body.js'
import type { Limits } from './connections.js'
import { CORS_HEADERS, HttpError } from './errors.js'
import { parseQuery, toExportError } from './export.js'
import { isFromOtherSite } from './hosts.js'
import type { Tree } from './tree.js'

/** Proxies end streams that are silent for longer. */
const COMMENT_MS = 15_000

const EVENT_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // nginx would keep events until they fill its buffers.
  'x-accel-buffering': 'no',
  ...CORS_HEADERS,
}

/** A series that is read, under a name. `asks`: whether the service may be asked for it. */
type Feed = Followed & { readonly name: string; readonly asks: boolean }

/**
 * The candles of series as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), for any number of readers:
 * a series is asked for once a close. The mirror is the only memory: who comes back, or is slow, gets what its windows have.
 */
export class Followers {
  private readonly feeds = new Map<string, Feed>()
  /** By the name of a feed: events, and of candles from when to when they open. */
  private readonly news = new EventEmitter()
  /** Its abort ends all streams. */
  readonly closing = new AbortController()

  constructor(
    private readonly tree: Tree,
    private readonly limits: Limits,
    private readonly warn: (warning: string) => void,
  ) {
    setMaxListeners(0, this.news, this.closing.signal)
    void this.look()
  }

  /** Sends a stream until its reader leaves. Faults before the head are thrown; later ones end the stream. */
  async open(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { mirror, upstream, now } = this.tree
    const signal = leavingSignal(request, reply)
    const { series, wanted } = parseRequest(request, this.tree)
    const asks = upstream !== undefined && !isFromOtherSite(request.raw)
    // The window that may have the newest candle.
    if (asks) await this.read(series, asks, now() - SETTLING_MS)
    if (!mirror.has(series)) throw new HttpError(404, 'The mirror has no candles of this series.')
    const next = nextCandle(mirror, series, now())
    let from = wanted ?? next
    if (from < next) {
      const first = asks ? await upstream.firstCandle(series) : 0
      const [date = ''] = asks ? knownDates(mirror, series.interval, now()) : mirror.dates(series)
      from = Math.max(from, first, Date.parse(date) || 0)
      // Before the head, a window that is not there is an error.
      if (from < next) await this.read(series, asks, nextOpenTime(series.interval, from - 1))
    }
    if (request.method === 'HEAD') return reply.headers(EVENT_HEADERS).send()
    const response = reply.hijack().raw.writeHead(200, EVENT_HEADERS)
    request.raw.socket.setTimeout(this.limits.stalledMs)
    // A reader that takes nothing would not take the end either.
    const end = () => (response.writableNeedDrain ? response.destroy() : response.end())
    this.closing.signal.addEventListener('abort', end, { signal })
    const name = `${seriesName(series)} ${asks}`
    const feed = this.feeds.get(name) ?? { name, asks, series, from: next, asked: 0, due: 0 }
    this.feeds.set(name, feed)
    try {
      for (let text = 'retry: 5000\n\n'; !this.closing.signal.aborted; ) {
        if (!response.write(text)) await once(response, 'drain', { signal })
        if (from < feed.from) {
          const until = feed.from
          const { batch, endTime } = await this.read(series, asks, from)
          text = toEvents(batch.slice(from, until))
          from = Math.min(until, endTime)
        } else {
          const [events, start = from, until = from] = await once(this.news, name, { signal })
          // Who wants later candles gets none of these.
          text = from <= start ? events : ''
          from = from <= start ? until : from
        }
      }
    } catch {}
    return end()
  }

  /** The window of a time, as the mirror has it or gets it now. */
  private async read(series: Series, asks: boolean, time: number) {
    const window = windowOf(series, startDateAt(series.interval, time))
    const { body } = await this.tree.file(windowPath(window), asks)
    return { batch: decodeWindow(body.bytes, window), ...windowSpan(window) }
  }

  /** Tells readers what has closed. While the service cannot be reached, they wait. */
  private async look(): Promise<void> {
    const { mirror, upstream, now } = this.tree
    for (let commented = 0; !this.closing.signal.aborted; await sleep(this.limits.lookMs, undefined, { ref: false })) {
      const feeds = [...this.feeds.values()].filter(({ name }) => this.news.listenerCount(name) > 0)
      if (Math.abs(now() - commented) >= COMMENT_MS) {
        commented = now()
        for (const { name } of feeds) this.news.emit(name, ':\n\n')
      }
      try {
        const others = feeds.filter(one => !one.asks && Number(mirror.status(one.series).lastOpenTime) >= one.from)
        await this.publish(mirrorRun(mirror, { now, signal: this.closing.signal, warn: () => {} }), others)
        const asking = feeds.filter(({ asks }) => asks)
        if (asking.length > 0) await upstream?.use(run => this.publish(run, asking))
      } catch (error) {
        if (!this.closing.signal.aborted) this.warn(`Candles are not followed: ${(error as Error).message}`)
        // A service that fails is not asked again at once.
        await sleep(10 * this.limits.lookMs, undefined, { ref: false })
      }
    }
  }

  private async publish(run: Run, feeds: readonly Feed[]): Promise<void> {
    const batches = followRound(run, feeds, ({ name, from }, cells, { batch }) => {
      const times = [...new Set(cells.map(({ openTime }) => openTime))]
      const events = times.map(time => toEvents(batch.slice(time, time + 1), 'restated'))
      // Who comes back goes on behind the newest candle all the same.
      this.news.emit(name, `${events.join('')}id: ${from - 1}\n\n`)
    })
    for await (const batch of batches) {
      const feed = feeds.find(({ series }) => seriesName(series) === seriesName(batch.series))
      if (feed) this.news.emit(feed.name, toEvents(batch), batch.firstOpenTime, feed.from)
    }
  }
}

/** Throws `HttpError` 404 for what cannot be a series, and 400 for a parameter or a time that is none. */
function parseRequest({ params, query, headers }: FastifyRequest, { mirror, now }: Tree) {
  const { interval, symbol } = params as { interval: string; symbol: string }
  try {
    const series: Series = { symbol: parseSymbol(symbol), interval: parseInterval(interval) }
    const { from } = parseQuery(query as Record<string, unknown>, ['from'])
    const { 'last-event-id': id } = headers
    if (/^\d{1,15}$/.test(String(id))) return { series, wanted: Number(id) + 1 }
    const text = id ?? from
    return { series, wanted: text === undefined ? undefined : parseInstant(String(text), now()) }
  } catch (error) {
    throw toExportError(error, mirror.root)
  }
}

/** `id:` is the open time of a candle, `data:` its row as the service writes it. */
function toEvents(batch: KlineBatch, event = 'candle'): string {
  let text = ''
  for (let row = 0; row < batch.length; row++)
    text += `id: ${batch.openTime(row)}\nevent: ${event}\ndata: ${JSON.stringify(batch.row(row))}\n\n`
  return text
}
