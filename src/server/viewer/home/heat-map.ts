import { type Series, seriesName } from '../../../klines/series.js'
import { formatCount, formatTime, plural } from '../../../klines/text.js'
import { describeAge } from './age.js'

/** Fills the cells of the coverage table with what only the candles say: age, outages, other gaps and corrupt windows. */
export async function fillHeatMap(): Promise<void> {
  const status = document.querySelector('#survey')
  if (!status) return
  const onProgress = (done: number, total: number) => {
    const windows = total === 0 ? '' : `: ${formatCount(done)} of ${formatCount(total)} windows`
    status.textContent = `Reading the candles${windows}.`
  }
  const onResult = (survey: readonly ScannedSeries[], renewing: boolean) => {
    const now = Date.now()
    for (const series of survey) fillCell(series, now)
    showNewest(survey)
    const candles = survey.reduce((sum, series) => sum + series.candles, 0)
    const more = renewing ? ' The candles are being read again, because the mirror may have changed.' : ''
    status.textContent = `${formatCount(candles)} candles. Each cell says how old its newest candle is, and leads to the chart.${more}`
  }
  try {
    await followScan({ onProgress, onResult })
  } catch (error) {
    status.textContent = (error as Error).message
  }
}

function showNewest(survey: readonly ScannedSeries[]): void {
  const times = survey.flatMap(({ lastOpenTime }) => lastOpenTime ?? [])
  const place = document.querySelector('[data-fact="Newest candle"]')
  if (place && times.length > 0) place.textContent = `${formatTime(Math.max(...times))} UTC`
}

function fillCell(series: ScannedSeries, now: number): void {
  const { symbol, interval, lastOpenTime } = series
  const cell = document.querySelector<HTMLElement>(
    `#coverage a[href="/chart/${encodeURIComponent(symbol)}/${interval}"]`,
  )
  if (!cell) return
  const text = `${seriesName(series)}: ${describe(series)}`
  cell.title = text
  cell.ariaLabel = text
  cell.dataset.state = findState(series)
  if (lastOpenTime === undefined) return
  const age = describeAge(interval, lastOpenTime, now)
  cell.dataset.age = age.kind
  cell.textContent = age.text
}

function findState({ corruptWindows, missingWindows, gaps, candles }: ScannedSeries): string {
  if (corruptWindows > 0) return 'corrupt'
  if (missingWindows > 0) return 'missing'
  if (candles === 0) return 'empty'
  return gaps > 0 ? 'outages' : 'cached'
}

function describe(series: ScannedSeries): string {
  const { candles, firstOpenTime, lastOpenTime, corruptWindows, missingWindows, missingCandles, gaps, outages } = series
  if (firstOpenTime === undefined || lastOpenTime === undefined) return 'no candles'
  const faults = (
    [
      [outages, 'outage'],
      [gaps - outages, 'other gap'],
      [missingCandles, 'candle', ' missing in them'],
      [missingWindows, 'missing window'],
      [corruptWindows, 'corrupt window'],
    ] as const
  ).flatMap(([count, noun, what = '']) => (count > 0 ? `${plural(count, noun)}${what}` : []))
  const range = `${plural(candles, 'candle')} from ${formatTime(firstOpenTime)} to ${formatTime(lastOpenTime)} UTC`
  return [range, ...(faults.length > 0 ? faults : ['no gap'])].join(', ')
}

/** The candles of a series as `/coverage/candles.json` counts them. Times are open times, ms UTC. */
interface ScannedSeries extends Series {
  readonly candles: number
  readonly firstOpenTime?: number
  readonly lastOpenTime?: number
  readonly corruptWindows: number
  readonly missingWindows: number
  readonly missingCandles: number
  readonly gaps: number
  readonly outages: number
}

/** `renewing`: a later result will follow, because the mirror may have changed since. */
type ScanState =
  | { readonly state: 'running'; readonly done: number; readonly total: number }
  | { readonly state: 'done'; readonly series: readonly ScannedSeries[]; readonly renewing: boolean }
  | { readonly state: 'failed'; readonly message: string }

/** Time between two questions how far the server is, ms; and for a later result, whose bytes come again only then. */
const POLL_MS = 400
const RENEWED_POLL_MS = 2_000

/** What is reported about a scan. */
interface ScanListener {
  /** The server reads the candles for the first time. `total` is 0 as long as it is not known. */
  onProgress(done: number, total: number): void
  /** A result; another one follows when the server is reading the candles again. */
  onResult(series: readonly ScannedSeries[], renewing: boolean): void
}

/** Asks for the scan of all series until it is done. Throws an error with the message of the server when that fails. */
async function followScan({ onProgress, onResult }: ScanListener): Promise<void> {
  for (;;) {
    const response = await fetch('/coverage/candles.json')
    if (!response.ok) throw new Error(`The server answered with status ${response.status}.`)
    const survey: ScanState = await response.json()
    if (survey.state === 'failed') throw new Error(survey.message)
    if (survey.state === 'running') onProgress(survey.done, survey.total)
    else onResult(survey.series, survey.renewing)
    if (survey.state === 'done' && !survey.renewing) return
    await new Promise(resolve => setTimeout(resolve, survey.state === 'done' ? RENEWED_POLL_MS : POLL_MS))
  }
}
