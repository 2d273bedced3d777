/** The candles of a series as `/coverage/candles.json` counts them. Times are open times, ms UTC. */
export interface SeriesSurvey {
  readonly symbol: string
  readonly interval: string
  readonly candles: number
  readonly firstOpenTime?: number
  readonly lastOpenTime?: number
  readonly corruptWindows: number
  readonly missingWindows: number
  readonly missingCandles: number
  readonly gaps: number
  readonly outages: number
}

type SurveyState =
  | { readonly state: 'running'; readonly done: number; readonly total: number }
  | { readonly state: 'done'; readonly series: readonly SeriesSurvey[] }
  | { readonly state: 'failed'; readonly message: string }

/** Time between two questions how far the server is, ms. */
const POLL_MS = 400

/**
 * The survey of all series, once the server has read them; calls `onProgress` until then. Throws an error with the message of
 * the server when that fails.
 */
export async function fetchSurvey(onProgress: (done: number, total: number) => void): Promise<readonly SeriesSurvey[]> {
  for (;;) {
    const response = await fetch('/coverage/candles.json')
    if (!response.ok) throw new Error(`The server answered with status ${response.status}.`)
    const survey: SurveyState = await response.json()
    if (survey.state === 'done') return survey.series
    if (survey.state === 'failed') throw new Error(survey.message)
    onProgress(survey.done, survey.total)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}
