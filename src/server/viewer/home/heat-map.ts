import { describeAge } from './age.js'
import { followSurvey, type SeriesSurvey } from './survey.js'

const count = new Intl.NumberFormat('en-US')

/** Fills the cells of the coverage table with what only the candles say: age, outages, other gaps and corrupt windows. */
export async function fillHeatMap(): Promise<void> {
  const status = document.querySelector('#survey')
  if (!status) return
  const onProgress = (done: number, total: number) => {
    const windows = total === 0 ? '' : `: ${count.format(done)} of ${count.format(total)} windows`
    status.textContent = `Reading the candles${windows}.`
  }
  const onResult = (survey: readonly SeriesSurvey[], renewing: boolean) => {
    const now = Date.now()
    for (const series of survey) fillCell(series, now)
    showNewest(survey)
    const candles = survey.reduce((sum, series) => sum + series.candles, 0)
    const more = renewing ? ' The candles are being read again, because the mirror may have changed.' : ''
    status.textContent = `${count.format(candles)} candles. Each cell says how old its newest candle is, and leads to the chart.${more}`
  }
  try {
    await followSurvey({ onProgress, onResult })
  } catch (error) {
    status.textContent = (error as Error).message
  }
}

function showNewest(survey: readonly SeriesSurvey[]): void {
  const times = survey.flatMap(({ lastOpenTime }) => lastOpenTime ?? [])
  const place = document.querySelector('[data-fact="Newest candle"]')
  if (place && times.length > 0) place.textContent = `${formatTime(Math.max(...times))} UTC`
}

function fillCell(series: SeriesSurvey, now: number): void {
  const { symbol, interval, lastOpenTime } = series
  const cell = document.querySelector<HTMLElement>(
    `#coverage a[href="/chart/${encodeURIComponent(symbol)}/${interval}"]`,
  )
  if (!cell) return
  const text = `${symbol} ${interval}: ${describe(series)}`
  cell.title = text
  cell.ariaLabel = text
  cell.dataset.state = findState(series)
  if (lastOpenTime === undefined) return
  const age = describeAge(interval, lastOpenTime, now)
  cell.dataset.age = age.kind
  cell.textContent = age.text
}

function findState({ corruptWindows, missingWindows, gaps, candles }: SeriesSurvey): string {
  if (corruptWindows > 0) return 'corrupt'
  if (missingWindows > 0) return 'missing'
  if (candles === 0) return 'empty'
  return gaps > 0 ? 'outages' : 'cached'
}

function describe(series: SeriesSurvey): string {
  const { candles, firstOpenTime, lastOpenTime, corruptWindows, missingWindows, missingCandles, gaps, outages } = series
  if (firstOpenTime === undefined || lastOpenTime === undefined) return 'no candles'
  const faults = [
    plural(outages, 'outage'),
    plural(gaps - outages, 'other gap'),
    missingCandles > 0 && `${plural(missingCandles, 'candle')} missing in them`,
    plural(missingWindows, 'missing window'),
    plural(corruptWindows, 'corrupt window'),
  ].filter(Boolean)
  const range = `${plural(candles, 'candle')} from ${formatTime(firstOpenTime)} to ${formatTime(lastOpenTime)} UTC`
  return [range, ...(faults.length > 0 ? faults : ['no gap'])].join(', ')
}

/** `12 outages`; undefined for none. */
function plural(number: number, noun: string): string | undefined {
  return number === 0 ? undefined : `${count.format(number)} ${noun}${number === 1 ? '' : 's'}`
}

function formatTime(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
