import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { KlineRow } from '../../../src/candles/columns.js'

const DAY = 86_400_000

/** The windows of a tree: weeks of 15m, or months of 1h. */
export interface Calendar {
  readonly interval: '15m' | '1h'
  readonly candleMs: number
  /** The startDates of its windows, and the end of the last one. */
  readonly dates: readonly string[]
}

export const WEEKS: Calendar = {
  interval: '15m',
  candleMs: 900_000,
  dates: ['2024-12-30', '2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27', '2025-02-03', '2025-02-10'],
}
export const MONTHS: Calendar = {
  interval: '1h',
  candleMs: 3_600_000,
  dates: ['2024-10-01', '2024-11-01', '2024-12-01', '2025-01-01', '2025-02-01', '2025-03-01', '2025-04-01'],
}

/** How long old files may lie beside new ones before the next deployment. */
const MIXED_MS = 20 * 3_600_000

/** How a tree is deployed. Windows whose number is in `old` keep the file of an earlier deployment, for less than a day. */
export type Deployment =
  | { readonly how: 'healthy' | 'lagging' | 'constant times' | 'no times' }
  | { readonly how: 'rolled back'; readonly to: number }
  | { readonly how: 'half done' | 'mixed by a cache'; readonly old: readonly boolean[]; readonly to: number }

interface ServedFile {
  readonly rows: readonly KlineRow[]
  /** Its Last-Modified; `constant`: one old time for all, and 304 to any condition. */
  readonly modified: number | 'constant' | undefined
}
type Files = ReadonlyMap<string, ServedFile>

/** A static service whose tree is deployed in good and bad ways as time goes by. The first window is empty; the third ends with a gap. */
export class DeployedService {
  private readonly history: Files[] = []
  private served: Files = new Map()
  private hasDate = true
  /** When the next deployment ends a mix of old and new files, ms UTC. */
  private mendedAt = Infinity
  url = ''

  private constructor(
    readonly calendar: Calendar,
    public time: number,
  ) {}

  static async start(calendar: Calendar): Promise<DeployedService> {
    const service = new DeployedService(calendar, Date.parse(calendar.dates[1]) + 2 * DAY)
    service.deploy({ how: 'healthy' })
    const server = createServer((request, response) => service.answer(request, response))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return service
  }

  /** When all windows are over. */
  get end(): number {
    const { dates } = this.calendar
    return Date.parse(dates[dates.length - 1])
  }

  /** The windows that have begun; the last date only ends the one before it. */
  get windows(): readonly string[] {
    return this.calendar.dates.slice(0, -1)
  }

  /** What the exchange has of a window at a time: a candle at each midnight, and the last one. */
  rowsAt(startDate: string, time: number): KlineRow[] {
    const { dates, candleMs } = this.calendar
    const index = dates.indexOf(startDate)
    const [start, end] = [Date.parse(startDate), Date.parse(dates[index + 1])]
    const days = Array.from({ length: (end - start) / DAY }, (_, day) => start + day * DAY)
    const times = index === 0 ? [] : index === 2 ? days.slice(0, -3) : [...days, end - candleMs]
    return times.filter(open => open + candleMs <= time).map(open => this.row(open))
  }

  advance(ms: number): void {
    const time = this.time + ms
    if (this.mendedAt < time) {
      this.time = this.mendedAt
      this.deploy({ how: 'healthy' })
    }
    this.time = time
  }

  deploy(deployment: Deployment): void {
    const { how } = deployment
    this.mendedAt = how === 'half done' || how === 'mixed by a cache' ? this.time + MIXED_MS : Infinity
    const latest = this.history.at(-1)
    const now = this.render(how === 'constant times' ? 'constant' : how === 'no times' ? undefined : this.time)
    this.hasDate = how !== 'no times'
    if (how === 'lagging') {
      const files = [...(latest ?? now)].map(([date, file]) => [date, { ...file, modified: this.time }] as const)
      this.served = new Map(files)
    } else if ('to' in deployment) {
      const before = this.history[Math.floor(deployment.to * this.history.length)] ?? now
      const isOld = (index: number) => how === 'rolled back' || ('old' in deployment && deployment.old[index] === true)
      this.served = new Map([...now].map(([date, file], index) => [date, (isOld(index) && before.get(date)) || file]))
      // A file that is copied late has the time of the copy.
      if (how === 'half done')
        this.served = new Map([...this.served].map(([date, file]) => [date, { ...file, modified: this.time }]))
    } else this.served = now
    this.history.push(this.served)
  }

  private render(modified: ServedFile['modified']): Files {
    return new Map(this.windows.map(date => [date, { rows: this.rowsAt(date, this.time), modified }]))
  }

  /** Windows of the future, for years of sequences. */
  private laterDates(): string[] {
    const { interval, dates } = this.calendar
    const last = new Date(dates[dates.length - 1])
    return Array.from({ length: 99 }, (_, index) => {
      const day = interval === '15m' ? last.getUTCDate() + 7 * (index + 1) : 1
      const month = interval === '15m' ? last.getUTCMonth() : last.getUTCMonth() + index + 1
      return new Date(Date.UTC(last.getUTCFullYear(), month, day)).toISOString().slice(0, 10)
    })
  }

  private row(open: number): KlineRow {
    const price = `${1000 + (Math.floor(open / DAY) % 977)}.00000000`
    const [one, closes] = ['1.00000000', open + this.calendar.candleMs - 1]
    return [open, price, price, price, price, one, closes, price, 1, one, price, '0']
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    response.sendDate = false
    if (this.hasDate) response.setHeader('date', new Date(this.time).toUTCString())
    const path = (request.url ?? '').replace('/api/klines/', '')
    const { interval, dates } = this.calendar
    const send = (value: unknown) => response.writeHead(200).end(JSON.stringify(value))
    if (path === 'symbols.json') return void send(['BTCUSDT'])
    if (path === `start-dates/${interval}.json`) return void send([...dates, ...this.laterDates()])
    const [, date = ''] = new RegExp(`^${interval}/BTCUSDT/(.*)\\.json$`).exec(path) ?? []
    const file = this.served.get(date)
    if (date >= dates[dates.length - 1]) return void send([])
    if (file === undefined) return void response.writeHead(404).end()
    const { rows, modified } = file
    const since = request.headers['if-modified-since']
    const stamp = modified === 'constant' ? Date.UTC(1980, 0, 1) : modified
    if (stamp !== undefined) response.setHeader('last-modified', new Date(stamp).toUTCString())
    const isUnchanged =
      since !== undefined && stamp !== undefined && Date.parse(since) >= Math.floor(stamp / 1000) * 1000
    if (isUnchanged) response.writeHead(304).end()
    else send(rows)
  }
}
