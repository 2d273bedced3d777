import type { Series } from '../../../klines/series.js'

/** The candles of a series as `/coverage/candles.json` counts them. Times are open times, ms UTC. */
export interface SeriesSurvey extends Series {
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
type SurveyState =
  | { readonly state: 'running'; readonly done: number; readonly total: number }
  | { readonly state: 'done'; readonly series: readonly SeriesSurvey[]; readonly renewing: boolean }
  | { readonly state: 'failed'; readonly message: string }

/** Time between two questions how far the server is, ms; and for a later result, whose bytes come again only then. */
const POLL_MS = 400
const RENEWED_POLL_MS = 2_000

/** What is told about a survey. */
interface SurveyListener {
  /** The server reads the candles for the first time. `total` is 0 as long as it is not known. */
  onProgress(done: number, total: number): void
  /** A result; another one follows when the server is reading the candles again. */
  onResult(series: readonly SeriesSurvey[], renewing: boolean): void
}

/** Asks for the survey of all series until it is done. Throws an error with the message of the server when that fails. */
export async function followSurvey({ onProgress, onResult }: SurveyListener): Promise<void> {
  for (;;) {
    const response = await fetch('/coverage/candles.json')
    if (!response.ok) throw new Error(`The server answered with status ${response.status}.`)
    const survey: SurveyState = await response.json()
    if (survey.state === 'failed') throw new Error(survey.message)
    if (survey.state === 'running') onProgress(survey.done, survey.total)
    else onResult(survey.series, survey.renewing)
    if (survey.state === 'done' && !survey.renewing) return
    await new Promise(resolve => setTimeout(resolve, survey.state === 'done' ? RENEWED_POLL_MS : POLL_MS))
  }
}
