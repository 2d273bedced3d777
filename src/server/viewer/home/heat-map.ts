import { type Series, seriesName } from '../../../klines/series.js'
import { formatCount, formatTime, plural } from '../../../klines/text.js'
import { describeAge } from './age.js'

/** Fills the cells of the coverage table with what only the candles say: age, outages, other gaps and corrupt windows. */
export async function fillHeatMap(): Promise<void> {
  const status = document.querySelector('#survey')
  if (!status) return
  try {
    for await (const scan of followScan()) {
      if (scan.state === 'running') status.textContent = describeProgress(scan)
      else status.textContent = fillCells(scan)
    }
  } catch (error) {
    status.textContent = (error as Error).message
  }
}

function describeProgress({ done, total }: RunningScan): string {
  const windows = total === 0 ? '' : `: ${formatCount(done)} of ${formatCount(total)} windows`
  return `Reading the candles${windows}.`
}

/** Fills all cells; returns what the page says about them. */
function fillCells({ series: survey, renewing }: DoneScan): string {
  const now = Date.now()
  for (const series of survey) fillCell(series, now)
  showNewest(survey)
  const candles = survey.reduce((sum, series) => sum + series.candles, 0)
  const more = renewing ? ' The candles are being read again, because the mirror may have changed.' : ''
  return `${formatCount(candles)} candles. Each cell says how old its newest candle is, and leads to the chart.${more}`
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

/** The server reads the candles for the first time. `total` is 0 as long as it is not known. */
type RunningScan = { readonly state: 'running'; readonly done: number; readonly total: number }

/** A result. `renewing`: a later one will follow, because the mirror may have changed since. */
type DoneScan = { readonly state: 'done'; readonly series: readonly ScannedSeries[]; readonly renewing: boolean }

type Scan = RunningScan | DoneScan | { readonly state: 'failed'; readonly message: string }

/** Time between two questions how far the server is, ms; and for a later result, whose bytes come again only then. */
const POLL_MS = 400
const RENEWED_POLL_MS = 2_000

/** Asks how far the scan of all series is, until it is done. Throws an error with the message of the server when it fails. */
async function* followScan(): AsyncGenerator<RunningScan | DoneScan> {
  for (;;) {
    const response = await fetch('/coverage/candles.json')
    if (!response.ok) throw new Error(`The server answered with status ${response.status}.`)
    const scan: Scan = await response.json()
    if (scan.state === 'failed') throw new Error(scan.message)
    yield scan
    if (scan.state === 'done' && !scan.renewing) return
    await new Promise(resolve => setTimeout(resolve, scan.state === 'done' ? RENEWED_POLL_MS : POLL_MS))
  }
}
