import { isInterval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import { isSymbol } from '../../klines/symbols.js'
import { Body } from '../http/body.js'
import { HttpError } from '../http/error.js'
import type { Params, Route } from '../http/router.js'
import { sendBody } from '../http/send-body.js'
import { sendPage } from '../pages/page.js'
import type { Tree } from '../tree/tree.js'
import { CandleScan } from './candle-scan.js'
import { findSeriesCoverage } from './coverage.js'
import { CoverageSurvey, type SurveyOptions } from './coverage-survey.js'

/** The routes of the page at `/`, and of what the scripts of the pages read about the mirror: for pages of this server alone. */
export function homeRoutes(tree: Tree, options: SurveyOptions): Route[] {
  const coverage = new CoverageSurvey(tree, options)
  const candles = new CandleScan(tree, coverage, options)
  const get = (path: string, handler: Route['handler']): Route => ({ method: 'GET', path, isPrivate: true, handler })
  return [
    get('/', async (request, response) => sendPage(request, response, await coverage.page())),
    get('/coverage.json', async (request, response) => sendBody(request, response, (await coverage.latest()).json)),
    get('/coverage/candles.json', (request, response) => sendBody(request, response, candles.state())),
    get('/coverage/{interval}/{symbol}.json', async (request, response, params) => {
      const found = await findSeriesCoverage(tree, parseSeries(params), tree.now())
      return sendBody(request, response, new Body(Buffer.from(JSON.stringify(found)), { isPrivate: true }))
    }),
  ]
}

/** The series of a path. Throws `HttpError` 404. */
function parseSeries({ interval, symbol }: Params): Series {
  if (isInterval(interval) && isSymbol(symbol)) return { symbol, interval }
  throw new HttpError(404, 'There is no such series.')
}
