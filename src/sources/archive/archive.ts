import { type WindowRef, windowName, windowOf } from '../../candles/series.js'
import { DayChecker } from '../../rows/day-checks.js'
import type { ExchangeAnswers } from '../exchange-answers.js'
import { windowCalls } from '../exchange-api.js'
import type { Fetcher } from '../fetcher.js'
import type { FirstCandles } from '../first-candles.js'
import { limiter } from '../limiter.js'
import type { ArchiveReport, Fetched, SourceArchive } from '../source.js'
import { type CheckedDays, checkMonth, type MonthFiles, toReason } from './month-check.js'
import { type ArchiveMonth, archiveMonths, NO_ZIP, zipFetcher } from './zips.js'

/** Months whose zips are fetched while the first of them is stored. */
const MONTHS_AHEAD = 8
/** Months that are unpacked at once. */
const MONTHS_CHECKED = 2

interface Month extends ArchiveMonth {
  files?: Promise<MonthFiles>
  /** Those that were not asked for yet. */
  days?: Promise<CheckedDays>
}

/** The exchange's archive of zips. Its days are used only where they add up to the exchange's own 1h candles. */
export class Archive implements SourceArchive {
  private readonly months: Month[] = []
  private readonly monthOf = new Map<string, Month>()
  private readonly refused: ArchiveReport['refused'][number][] = []
  private readonly inTurn = limiter(MONTHS_CHECKED)
  private readonly fetchZips: ReturnType<typeof zipFetcher>
  private readonly checker: DayChecker
  private windows = 0

  constructor(
    private readonly fetcher: Fetcher,
    private readonly answers: ExchangeAnswers,
    private readonly firstCandles: FirstCandles,
    warn: (text: string) => void,
  ) {
    this.checker = new DayChecker(answers.market.hasBareWholes)
    this.fetchZips = zipFetcher(fetcher, answers.market, warn)
  }

  get report(): ArchiveReport | undefined {
    if (this.months.length === 0) return undefined
    const refused = this.refused.toSorted((a, b) => (windowName(a) < windowName(b) ? -1 : 1))
    return { windows: this.windows, refused }
  }

  /** How many windows are expected of it, and what they take: zips, and calls of the exchange itself. */
  cost(missing: readonly WindowRef[]) {
    const { market } = this.answers
    const now = this.answers.knownNow()
    const cost = { windows: 0, zips: 0, calls: 0 }
    for (const month of archiveMonths(missing, now, market.archivedFrom)) {
      cost.windows += month.windows.length
      // The running month has no zip of its own yet.
      cost.zips += month.endTime > now ? month.windows.length : 1
      // Its 1h candles, and a page of rows that is compared.
      cost.calls += windowCalls('1h', market) + 1
    }
    return cost
  }

  expect(missing: readonly WindowRef[]): void {
    for (const month of archiveMonths(missing, this.answers.knownNow(), this.answers.market.archivedFrom)) {
      this.months.push(month)
      for (const window of month.windows) this.monthOf.set(windowName(window), month)
    }
  }

  /** Undefined for a window that the exchange itself must give. Throws what the exchange throws when it stops. */
  async fetch(window: WindowRef, signal: AbortSignal): Promise<Fetched | undefined> {
    const month = this.monthOf.get(windowName(window))
    if (month === undefined) return undefined
    this.start(month, signal)
    const days = await month.days
    const day = days?.get(window.startDate)
    days?.delete(window.startDate)
    if (typeof day === 'string') {
      this.refused.push({ ...window, reason: day.replace(`${windowName(window)}: `, '') })
      return undefined
    }
    if (day && day.batch.length > 0) this.windows++
    return day
  }

  close(): Promise<void> {
    return this.fetcher.close()
  }

  /** Fetches a month and those behind it, and checks it and the next one, which is done while it is stored. */
  private start(first: Month, signal: AbortSignal): void {
    const index = this.months.indexOf(first)
    for (const [ahead, month] of this.months.slice(index, index + MONTHS_AHEAD).entries()) {
      if (month.days) continue
      const files = month.files ?? this.load(month, signal)
      month.files = files
      if (ahead < MONTHS_CHECKED) month.days = this.inTurn(() => this.check(month, files, signal))
      // Their errors are thrown where they are awaited.
      for (const later of [files, month.days]) later?.catch(() => {})
    }
  }

  /** A month without a 1h candle has no zip: it lies before the listing of a symbol, or after its delisting. */
  private async load(month: ArchiveMonth, signal: AbortSignal): Promise<MonthFiles> {
    const hours = await this.answers.window(windowOf({ ...month.series, interval: '1h' }, `${month.month}-01`), signal)
    if (hours.batch.length === 0) return { hours, zips: [{ windows: month.windows, body: NO_ZIP }] }
    return { hours, zips: await this.fetchZips(month, this.answers.knownNow(), signal) }
  }

  private async check(month: Month, loading: Promise<MonthFiles>, signal: AbortSignal): Promise<CheckedDays> {
    const firstTime = (await this.firstCandles.known(month.series))?.openTime ?? -Infinity
    const files = await loading.catch(toReason)
    delete month.files
    if (typeof files === 'string') return new Map(month.windows.map(({ startDate }) => [startDate, files]))
    return checkMonth(month, this.answers, { ...files, checker: this.checker, firstTime, signal })
  }
}
