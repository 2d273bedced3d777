import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isKlinesError } from '../candles/errors.js'
import { approximateLength, MINUTE_MS, nextOpenTime, parseInterval } from '../candles/intervals.js'
import { type Series, seriesName, windowOf } from '../candles/series.js'
import { parseSymbol } from '../candles/symbols.js'
import { parseInstant } from '../candles/time-range.js'
import { consecutiveStartDates, startDateAt } from '../candles/windows.js'
import { dueTime, type Followed, followRound, nextCandle } from '../engine/follow.js'
import { mirrorRun, type Run } from '../engine/run.js'
import { SETTLING_MS } from '../rows/closed-rows.js'
import type { ChangedCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import type { Route } from './body.js'
import { CORS_HEADERS, HttpError } from './errors.js'
import { isFromOtherSite } from './hosts.js'
import type { Tree } from './tree.js'

/** How often the series are looked at that somebody reads. */
const LOOK_MS = 1_000
/** After a failure of the service. */
const RETRY_MS = 10_000
/** Proxies end connections that are silent for longer. */
const COMMENT_MS = 15_000
/** How long a reader may take nothing: it comes back, and goes on where it was. */
const STALLED_MS = MINUTE_MS

/** Somebody who reads the candles of a series as they close. */
interface Reader {
  readonly response: ServerResponse
  /** Whether this server may ask the service behind it for this reader. */
  readonly asks: boolean
  /** Candles that open earlier are sent. */
  next: number
  /** Whether windows of the mirror are being sent. */
  isReading: boolean
  /** Since when its connection takes nothing, ms. */
  fullSince?: number | undefined
}

/** A series that somebody reads. */
interface ReadSeries extends Followed {
  readonly readers: Set<Reader>
  /** Candles that open earlier were published. */
  published: number
}

/**
 * The candles of series as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), for any number of readers:
 * a series is asked for once a close. The mirror is the only memory: who is slow, or comes back, reads on in its windows.
 */
export class Followers {
  private readonly all = new Map<string, ReadSeries>()
  private timer: NodeJS.Timeout | undefined
  private isAsking = false
  private retryTime = 0
  private commentedMs = 0

  constructor(private readonly tree: Tree) {}

  get routes(): Route[] {
    const handler = (request: FastifyRequest, reply: FastifyReply) => this.open(request, reply)
    return [{ method: 'GET', url: '/follow/:interval/:symbol', handler }]
  }

  /** Ends all streams. */
  close(): void {
    clearInterval(this.timer)
    for (const { readers } of this.all.values()) for (const { response } of readers) response.end()
  }

  private async open(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { mirror, upstream, now } = this.tree
    const { series, from } = parseRequest(request, now())
    const asks = upstream !== undefined && !isFromOtherSite(request.raw)
    if (!mirror.has(series)) {
      if (!asks) throw new HttpError(404, 'The mirror has no candles of this series.')
      await upstream.refresh({ kind: 'window', window: windowOf(series, startDateAt(series.interval, now())) })
    }
    const response = reply.hijack().raw
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      ...CORS_HEADERS,
      'x-content-type-options': 'nosniff',
    })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    response.write('retry: 5000\n\n')
    const read = this.find(series, asks)
    // From now on: what has closed is history, also where the mirror lacks it.
    const closing = SETTLING_MS + approximateLength(series.interval)
    const present = mirror.rules.kind === 'exchange' ? now() - closing : -Infinity
    const reader: Reader = { response, asks, next: from ?? Math.max(read.published, present), isReading: false }
    read.readers.add(reader)
    response.on('drain', () => {
      reader.fullSince = undefined
      this.readOn(read, reader)
    })
    response.on('close', () => {
      read.readers.delete(reader)
      if (read.readers.size === 0) this.all.delete(seriesName(series))
    })
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref()
    await this.readOn(read, reader)
  }

  /** A series that is read, or that is read from now on. */
  private find(series: Series, asks: boolean): ReadSeries {
    const found = this.all.get(seriesName(series))
    if (found) return found
    const { mirror, now } = this.tree
    const from = nextCandle(mirror, series, now())
    const asked = mirror.facts(series).get(startDateAt(series.interval, now()))?.asked ?? 0
    const due = asks ? dueTime(mirror.rules, series, asked) : 0
    const added = { series, from, published: from, asked, due, readers: new Set<Reader>() }
    this.all.set(seriesName(series), added)
    return added
  }

  /** Publishes the new candles of the series that are due. */
  private async look(): Promise<void> {
    const { mirror, upstream, now } = this.tree
    this.keepAlive(performance.now())
    if (this.isAsking || now() < this.retryTime) return
    this.isAsking = true
    const asking = [...this.all.values()].filter(({ readers }) => [...readers].some(({ asks }) => asks))
    const others = [...this.all.values()].filter(one => !asking.includes(one))
    const publish = async (run: Run, followed: readonly ReadSeries[]) => {
      const restate = (window: Series, cells: readonly ChangedCell[], batch: KlineBatch) => {
        const times = [...new Set(cells.map(({ openTime }) => openTime))]
        const rows = times.map(time => batch.slice(time, time + 1)).filter(({ length }) => length > 0)
        const text = rows.map(row => toEvents(row, 'restated')).join('')
        for (const reader of this.all.get(seriesName(window))?.readers ?? [])
          if (!reader.isReading && reader.next >= times[0]) write(reader, text)
      }
      for await (const batch of followRound(run, followed, restate)) this.publish(batch)
    }
    try {
      const signal = new AbortController().signal
      await publish(mirrorRun(mirror, { now, signal, warn: () => {} }), others)
      if (asking.length > 0) await upstream?.use(run => publish(run, asking))
    } catch {
      // Readers wait, and others than those of the series that failed have had theirs.
      this.retryTime = now() + RETRY_MS
    } finally {
      this.isAsking = false
    }
  }

  private publish(batch: KlineBatch): void {
    const read = this.all.get(seriesName(batch.series))
    const { firstOpenTime, lastOpenTime } = batch
    if (!read || firstOpenTime === undefined || lastOpenTime === undefined) return
    const text = toEvents(batch, 'candle')
    const { published } = read
    read.published = nextOpenTime(read.series.interval, lastOpenTime)
    for (const reader of read.readers) {
      if (reader.next < published || reader.next > firstOpenTime) this.readOn(read, reader)
      else if (!reader.isReading && reader.fullSince === undefined) {
        reader.next = read.published
        write(reader, text)
      }
    }
  }

  /** Sends a reader what the mirror has, window by window, up to what was published, as long as its connection takes more. */
  private async readOn(read: ReadSeries, reader: Reader): Promise<void> {
    const { mirror, upstream, now } = this.tree
    const { interval } = read.series
    const isOpen = () => read.readers.has(reader) && reader.fullSince === undefined
    if (reader.isReading || !isOpen()) return
    reader.isReading = true
    try {
      const [first = ''] = mirror.dates(read.series)
      const begin = startDateAt(interval, reader.next)
      for (const date of consecutiveStartDates(interval, begin > first ? begin : first, now())) {
        const window = windowOf(read.series, date)
        if (reader.asks && mirror.read(window).state !== 'cached') await upstream?.refresh({ kind: 'window', window })
        const found = mirror.read(window)
        // A hole, or the end.
        if (found.state !== 'cached') break
        const batch = found.batch.slice(reader.next, read.published)
        if (batch.lastOpenTime === undefined) continue
        reader.next = nextOpenTime(interval, batch.lastOpenTime)
        write(reader, toEvents(batch, 'candle'))
        await nextTurn()
        if (!isOpen()) return
      }
    } catch {
      // It comes back after a while, with its id.
      reader.response.end()
    } finally {
      reader.isReading = false
    }
  }

  /** Ends the look at series that nobody reads, and connections that take nothing; the others get a comment. */
  private keepAlive(nowMs: number): void {
    if (this.all.size === 0) {
      clearInterval(this.timer)
      this.timer = undefined
    }
    if (nowMs - this.commentedMs < COMMENT_MS) return
    this.commentedMs = nowMs
    for (const { readers } of this.all.values())
      for (const reader of readers) {
        if (reader.fullSince === undefined) write(reader, ':\n\n')
        else if (nowMs - reader.fullSince > STALLED_MS) reader.response.destroy()
      }
  }
}

/** Throws `HttpError` 404 for what cannot be a series, and 400 for a parameter, a time or a Last-Event-ID that is none. */
function parseRequest({ params, query, headers }: FastifyRequest, now: number) {
  const { interval, symbol } = params as { interval: string; symbol: string }
  const { from, ...others } = query as Record<string, unknown>
  const [other] = Object.keys(others)
  if (other !== undefined || Array.isArray(from)) {
    const name = (other ?? 'from').slice(0, 40)
    throw new HttpError(400, `The query parameter "${name}" is unknown or given more than once. Expected from.`)
  }
  const id = headers['last-event-id']
  if (id !== undefined && !/^\d{1,15}$/.test(String(id)))
    throw new HttpError(400, 'The Last-Event-ID is not the open time of a candle. Expected ms since the epoch.')
  try {
    const series: Series = { symbol: parseSymbol(symbol), interval: parseInterval(interval) }
    if (id !== undefined) return { series, from: Number(id) + 1 }
    return { series, from: from === undefined ? undefined : parseInstant(String(from), now) }
  } catch (error) {
    throw new HttpError(isKlinesError(error, 'bad_time') ? 400 : 404, (error as Error).message)
  }
}

/** `id:` is the open time of a candle, `data:` its row as the service writes it. */
function toEvents(batch: KlineBatch, event: 'candle' | 'restated'): string {
  let text = ''
  for (let row = 0; row < batch.length; row++)
    text += `id: ${batch.openTime(row)}\nevent: ${event}\ndata: ${JSON.stringify(batch.row(row))}\n\n`
  return text
}

function write(reader: Reader, text: string): void {
  if (reader.response.write(text)) return
  reader.fullSince ??= performance.now()
}
