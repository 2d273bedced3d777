import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { COLUMNS, type KlineRow } from '../../../src/candles/columns.js'
import { makeZip } from '../archive/make-zip.js'
import { lowerBound, type Market } from '../exchange/market.js'
import type { CandleKind } from '../futures/futures-market.js'
import { type LoggedRequest, ScriptedServer } from './scripted-server.js'

const DAY = 86_400_000
/** From here on the archive of spot candles has µs. */
const MICROSECONDS_FROM = Date.UTC(2025, 0)
/** From here on files of futures have a header. */
const HEADER_FROM = Date.UTC(2022, 0)
const PATH =
  /^data\/(spot|futures\/um)\/(monthly|daily)\/(\w*[kK]lines)\/([^/]+)\/([^/]+)\/(.+)-(\d{4}-\d\d(?:-\d\d)?)\.zip(\.CHECKSUM)?$/

/** The exchange's archive on a free port: the zips of a market, as wrong as a test makes them, and a log of all requests. */
export class ArchiveServer extends ScriptedServer {
  /** The clock, ms UTC: a month is there after 14 days, a day after 8.6 hours. */
  now: number
  /** What becomes of the lines of a zip, by the name of its file: `BTCUSDT-1m-2024-01`. */
  readonly edits = new Map<string, (lines: string[]) => string[]>()
  /** Zips as they are, by name, or `undefined` for one that is not there. */
  readonly zips = new Map<string, Buffer | undefined>()

  private constructor(
    private readonly market: Market,
    now: number,
  ) {
    super()
    this.now = now
  }

  /** Starts an archive that stops when the test ends. */
  static async start(market: Market, now: number): Promise<ArchiveServer> {
    const { onTestFinished } = await import('vitest')
    const server = await ArchiveServer.open(market, now)
    onTestFinished(() => server.stop())
    return server
  }

  /** Starts an archive that the caller stops. */
  static async open(market: Market, now: number, port = 0): Promise<ArchiveServer> {
    const server = new ArchiveServer(market, now)
    await server.listen(port)
    return server
  }

  /** The names of the zips that were asked for, sorted. */
  get names(): string[] {
    return this.log.map(({ path }) => path.slice(path.lastIndexOf('/') + 1, -4)).sort()
  }

  protected enter(logged: LoggedRequest): LoggedRequest {
    return logged
  }

  protected matches({ path }: LoggedRequest, match: string): boolean {
    return path.includes(match)
  }

  protected setHeaders(response: ServerResponse): void {
    response.setHeader('date', new Date(this.now).toUTCString())
  }

  protected respond(_: IncomingMessage, response: ServerResponse, { path }: LoggedRequest): void {
    const zip = this.findZip(path)
    if (zip === undefined)
      response.writeHead(404, { 'content-type': 'application/xml' }).end('<Error>NoSuchKey</Error>')
    else response.writeHead(200, { 'content-type': 'application/zip', 'content-length': zip.length }).end(zip)
  }

  /** The zip of a path, or the line of its checksum; undefined when there is none. */
  findZip(path: string): Buffer | undefined {
    const [, root, period, kind, symbol = '', interval = '', , date = '', checksum] = PATH.exec(decodeURI(path)) ?? []
    const { futures } = this.market
    if (root !== (futures ? 'futures/um' : 'spot')) return undefined
    const name = `${symbol}-${interval}-${date}`
    if (checksum) {
      const zip = this.findZip(path.slice(0, -checksum.length))
      return zip && Buffer.from(`${createHash('sha256').update(zip).digest('hex')}  ${name}.zip\n`)
    }
    if (this.zips.has(name)) return this.zips.get(name)
    const start = Date.parse(date)
    const isMonth = period === 'monthly'
    const end = isMonth ? new Date(start).setUTCMonth(new Date(start).getUTCMonth() + 1) : start + DAY
    if (Number.isNaN(start) || this.now < end + (isMonth ? 14 : 0.36) * DAY) return undefined
    const rows =
      futures?.archived(kind as CandleKind, symbol, interval, [start, end]) ?? this.market.rows(symbol, interval) ?? []
    const found = rows.slice(lowerBound(rows, start), lowerBound(rows, end))
    const lines = found.map(row => (futures ? row.join(',') : csvLine(row)))
    if (lines.length === 0) return undefined
    const edited = this.edits.get(name)?.(lines) ?? lines
    const header = futures && start >= HEADER_FROM ? [COLUMNS.join(',')] : []
    return makeZip({ name: `${name}.csv`, content: toCsv([...header, ...edited]) })
  }
}

/** A file of lines. */
export function toCsv(lines: readonly string[]): string {
  return lines.map(line => `${line}\n`).join('')
}

/** A row as the archive writes it, of spot candles. */
export function csvLine(row: KlineRow): string {
  if (row[0] < MICROSECONDS_FROM) return row.join(',')
  return inMicroseconds(row.join(','))
}

/** A line in ms as one in µs: it closes with 999 µs. */
export function inMicroseconds(line: string): string {
  const cells = line.split(',')
  return cells.map((cell, index) => (index === 0 ? `${cell}000` : index === 6 ? `${cell}999` : cell)).join(',')
}
