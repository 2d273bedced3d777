import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isInterval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import { isSymbol } from '../../klines/symbols.js'
import { type Endpoint, serve } from '../endpoint.js'
import { Body } from '../http/body.js'
import { HttpError } from '../http/error.js'
import { sendBody } from '../http/send-body.js'
import { viewerModules } from '../pages/assets.js'
import { pageBody, sendPage } from '../pages/send-page.js'
import type { Tree } from '../tree/tree.js'
import { type Coverage, findCoverage, findSeriesCoverage } from './coverage.js'
import { homePage, type PageContent } from './page.js'
import { Survey } from './survey.js'

/** Serves the page at `/`, and what the scripts of the pages read about the mirror. */
export function serveHome(app: FastifyInstance, tree: Tree, onError: (error: Error) => void): void {
  const { mirror, now } = tree
  const get = (path: string, handler: Endpoint['handler']) => serve(app, { methods: ['GET', 'HEAD'], path, handler })
  const survey = new Survey(mirror, now, onError)
  app.addHook('onClose', async () => survey.close())
  get('/', async (request, reply) => {
    const coverage = await findCoverage(tree, now())
    return sendPage(
      request,
      reply,
      pageBody(homePage({ coverage, examples: findExamples(coverage) }, viewerModules('home'))),
    )
  })
  get('/coverage.json', async (request, reply) => sendBody(request, reply, jsonBody(await findCoverage(tree, now()))))
  get('/coverage/candles.json', (request, reply) => sendBody(request, reply, jsonBody(survey.state())))
  get('/coverage/{interval}/{symbol}.json', async (request, reply) =>
    sendBody(request, reply, jsonBody(await findSeriesCoverage(tree, parseSeries(request), now()))),
  )
}

function jsonBody(value: object): Body {
  return new Body(Buffer.from(JSON.stringify(value)))
}

/** The series of a path. Throws `HttpError` 404. */
function parseSeries({ params }: FastifyRequest): Series {
  const { interval, symbol } = params as Record<string, string>
  if (isInterval(interval) && isSymbol(symbol)) return { symbol, interval }
  throw new HttpError(404, 'There is no such series.')
}

/** The oldest cached window of each interval that has candles, of the first symbol that has one. */
function findExamples({ series, intervals }: Coverage): PageContent['examples'] {
  return intervals.map(interval => {
    const found = series.find(one => one.interval === interval && one.firstStartDate !== undefined)
    const startDate = found?.firstStartDate
    return { interval, window: found && startDate !== undefined ? { ...found, startDate } : undefined }
  })
}
