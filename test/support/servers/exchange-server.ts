import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { BanWatch } from '../exchange/ban-watch.js'
import { jsonAnswer, NOT_FOUND, type PlainAnswer } from '../exchange/exchange-answers.js'
import { type ExchangeRequest, findViolations, isCandles, parseRequest } from '../exchange/exchange-request.js'
import { answerKlines } from '../exchange/klines-answer.js'
import { EXCHANGE_NOW, type Market } from '../exchange/market.js'
import { WeightMeter } from '../exchange/weight-meter.js'
import { answerFunding, answerFundingInfo } from '../futures/funding.js'
import { type LoggedRequest, ScriptedServer } from './scripted-server.js'

/** The calls about funding that an address may make in five minutes. */
const FUNDING_LIMIT = 500

/** The beginning of a path with its query (`api/v3/klines?symbol=BTCUSDT`), or a function. */
export type ExchangeMatch = string | ((request: ExchangeRequest) => boolean)

/**
 * The market data of the exchange's REST API on a free port: candles with an open one, errors, weight limits and bans by a clock
 * of its own, scripted responses for tests, and a log of all requests and of what a client must never do.
 */
export class ExchangeServer extends ScriptedServer<ExchangeRequest, ExchangeMatch> {
  /** The clock, ms UTC: a time, or a function for one that moves. */
  now: number | (() => number) = EXCHANGE_NOW
  /** The weight that an address may use in a minute of the clock; Infinity lifts the limit. */
  weightLimit = 6000
  /** Whether responses say the used weight, or which of them. */
  sendsWeight: boolean | ((request: ExchangeRequest) => boolean) = true
  /** Whether 429 and 418 say when to come back. */
  sendsRetryAfter = true
  /** The most rows of an answer, whatever a request asks for. */
  maxRows = 1000
  /** How long a ban lasts, ms. */
  banMs = 120_000
  /** What is odd in answers of futures: `big` for 3 MB of `exchangeInfo`. */
  readonly faults = new Set<'big' | 'doubled' | 'tied'>()
  /** What the client did that it must never do. */
  readonly violations: string[] = []
  private readonly meter = new WeightMeter()
  private readonly fundingMeter = new WeightMeter(5 * 60_000)
  private readonly refusals = new Map<ExchangeRequest, PlainAnswer>()
  private bans = new BanWatch()
  private other = { weight: 0, minute: 0 }

  private constructor(private readonly market: Market) {
    super()
    if (market.futures === undefined) return
    this.weightLimit = 2400
    this.maxRows = 1500
  }

  /** Starts an exchange, on a free port unless one is given, that stops when the test ends. */
  static async start(market: Market, options: { port?: number } = {}): Promise<ExchangeServer> {
    // Loaded here, so that programs other than tests can open an exchange.
    const { onTestFinished } = await import('vitest')
    const server = await ExchangeServer.open(market, options)
    onTestFinished(() => server.stop())
    return server
  }

  /** Starts an exchange that the caller stops. */
  static async open(market: Market, { port = 0 }: { port?: number } = {}): Promise<ExchangeServer> {
    const server = new ExchangeServer(market)
    await server.listen(port)
    return server
  }

  /** The time of the clock, ms UTC. */
  get time(): number {
    return typeof this.now === 'function' ? this.now() : this.now
  }

  /** The weight that other programs of this address have used in the current minute; 0 again in the next one. */
  get otherWeight(): number {
    return this.other.minute === Math.floor(this.time / 60_000) ? this.other.weight : 0
  }

  set otherWeight(weight: number) {
    this.other = { weight, minute: Math.floor(this.time / 60_000) }
  }

  /** The weight that the client has used in each minute of the clock, refused requests included. */
  get weights(): Map<number, number> {
    return this.meter.perMinute
  }

  /** The most weight that the client has used in a minute. */
  get highestWeight(): number {
    return Math.max(0, ...this.weights.values())
  }

  /** How many calls there were of each kind. */
  get calls(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { kind } of this.log) counts[kind] = (counts[kind] ?? 0) + 1
    return counts
  }

  override reset(): void {
    super.reset()
    this.meter.reset()
    this.fundingMeter.reset()
    this.faults.clear()
    this.refusals.clear()
    this.violations.length = 0
    this.bans = new BanWatch()
    this.otherWeight = 0
  }

  protected enter(logged: LoggedRequest, incoming: IncomingMessage): ExchangeRequest {
    const request = parseRequest(logged, this.time, this.market.futures !== undefined)
    this.violations.push(...findViolations(incoming, request))
    if (this.bans.isLate(incoming.socket)) this.violations.push(`request after 418: ${request.path}`)
    const { banMs, sendsRetryAfter } = this
    const refusal = isAboutFunding(request)
      ? this.fundingMeter.add(1, request.time, { weightLimit: FUNDING_LIMIT, otherWeight: 0, banMs, sendsRetryAfter })
      : this.meter.add(request.weight, request.time, this)
    if (refusal) this.refusals.set(request, refusal)
    return request
  }

  protected matches(request: ExchangeRequest, match: ExchangeMatch): boolean {
    return typeof match === 'function' ? match(request) : request.path.startsWith(match)
  }

  protected setHeaders(response: ServerResponse, request: ExchangeRequest): void {
    response.setHeader('date', new Date(this.time).toUTCString())
    const used = this.meter.usedAt(request.time) + this.otherWeight
    const { sendsWeight } = this
    const isSent = typeof sendsWeight === 'function' ? sendsWeight(request) : sendsWeight
    if (isSent && !isAboutFunding(request)) response.setHeader('x-mbx-used-weight-1m', used)
    response.on('finish', () => {
      if (response.statusCode === 418) this.bans.banned(response.req.socket)
    })
  }

  protected respond(incoming: IncomingMessage, response: ServerResponse, request: ExchangeRequest): void {
    const { status, headers, body } = this.refusals.get(request) ?? this.findContent(request)
    const isGzip = body.length > 1024 && /\bgzip\b/.test(String(incoming.headers['accept-encoding']))
    response.writeHead(status, { ...headers, ...(isGzip && { 'content-encoding': 'gzip' }) })
    response.end(isGzip ? gzipSync(body, { level: 1 }) : body)
  }

  private findContent(request: ExchangeRequest): PlainAnswer {
    const now = this.time
    const { futures } = this.market
    if (isCandles(request.kind)) return answerKlines(this.market, request, now, this.maxRows)
    if (request.kind === 'prices') {
      return jsonAnswer(this.market.symbols().map(symbol => ({ symbol, price: '0.06000000' })))
    }
    if (request.kind === 'time') return jsonAnswer({ serverTime: now })
    if (request.kind === 'ping') return jsonAnswer({})
    if (futures && request.kind === 'fundingRate') return answerFunding(futures, request, now, this.faults)
    if (futures && request.kind === 'fundingInfo') return answerFundingInfo(futures, now)
    if (futures && request.kind === 'exchangeInfo') {
      return jsonAnswer(futures.info(now, this.faults.has('big') ? 'x'.repeat(300_000) : ''))
    }
    if (request.kind === 'exchangeInfo') return exchangeInfo()
    return NOT_FOUND
  }
}

function isAboutFunding({ kind }: ExchangeRequest): boolean {
  return kind === 'fundingRate' || kind === 'fundingInfo'
}

/** The largest answer of the exchange: 17 MB. */
function exchangeInfo(): PlainAnswer {
  const symbol = { symbol: 'ETHBTC', status: 'TRADING', permissionSets: [Array(500).fill('TRD_GRP_000')] }
  return jsonAnswer({ timezone: 'UTC', serverTime: EXCHANGE_NOW, symbols: Array(2400).fill(symbol) })
}
