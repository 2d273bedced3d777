import { isInterval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import { isSymbol } from '../../klines/symbols.js'
import { Body } from '../http/body.js'
import { HttpError } from '../http/error.js'
import type { Params, Route } from '../http/router.js'
import { sendBody } from '../http/send-body.js'
import { pageBody, sendPage } from '../pages/page.js'
import type { Tree } from '../tree/tree.js'
import { findCoverage, findSeriesCoverage } from './coverage.js'
import { homePage, referencePage } from './page.js'

/** The routes of the pages at `/` and `/reference`, and of what the viewer reads about the mirror: for pages of this server alone. */
export function homeRoutes(tree: Tree): Route[] {
  const get = (path: string, handler: Route['handler']): Route => ({ method: 'GET', path, isPrivate: true, handler })
  const json = (value: unknown) => new Body(Buffer.from(JSON.stringify(value)), { isPrivate: true })
  return [
    get('/', async (request, response) => sendPage(request, response, pageBody(await homePage(tree)))),
    get('/reference', (request, response) => sendPage(request, response, pageBody(referencePage()))),
    get('/coverage.json', async (request, response) => sendBody(request, response, json(await findCoverage(tree)))),
    get('/coverage/{interval}/{symbol}.json', async (request, response, params) => {
      return sendBody(request, response, json(await findSeriesCoverage(tree, parseSeries(params))))
    }),
  ]
}

/** The series of a path. Throws `HttpError` 404. */
function parseSeries({ interval, symbol }: Params): Series {
  if (isInterval(interval) && isSymbol(symbol)) return { symbol, interval }
  throw new HttpError(404, 'There is no such series.')
}
