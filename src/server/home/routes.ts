import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isInterval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import { isSymbol } from '../../klines/symbols.js'
import { type Endpoint, serve } from '../endpoint.js'
import { Body } from '../http/body.js'
import { HttpError } from '../http/error.js'
import type { Limits } from '../http/limits.js'
import { sendBody } from '../http/send-body.js'
import { sendPage } from '../pages/page.js'
import type { Tree } from '../tree/tree.js'
import { CandleScan } from './candle-scan.js'
import { findSeriesCoverage } from './coverage.js'
import { CoverageSurvey } from './coverage-survey.js'

/** Serves the page at `/`, and what the scripts of the pages read about the mirror: for pages of this server alone. */
export function serveHome(
  app: FastifyInstance,
  tree: Tree,
  { surveyMs }: Limits,
  onError: (error: Error) => void,
): void {
  const get = (path: string, handler: Endpoint['handler']) =>
    serve(app, { methods: ['GET', 'HEAD'], path, isPrivate: true, handler })
  const stop = new AbortController()
  app.addHook('onClose', async () => stop.abort())
  const options = { renewMs: surveyMs, signal: stop.signal, onError }
  const coverage = new CoverageSurvey(tree, options)
  const candles = new CandleScan(tree, coverage, options)
  get('/', async (request, reply) => sendPage(request, reply, await coverage.page()))
  get('/coverage.json', async (request, reply) => sendBody(request, reply, (await coverage.latest()).json))
  get('/coverage/candles.json', (request, reply) => sendBody(request, reply, candles.state()))
  get('/coverage/{interval}/{symbol}.json', async (request, reply) => {
    const found = await findSeriesCoverage(tree, parseSeries(request), tree.now())
    return sendBody(request, reply, new Body(Buffer.from(JSON.stringify(found)), { isPrivate: true }))
  })
}

/** The series of a path. Throws `HttpError` 404. */
function parseSeries({ params }: FastifyRequest): Series {
  const { interval, symbol } = params as Record<string, string>
  if (isInterval(interval) && isSymbol(symbol)) return { symbol, interval }
  throw new HttpError(404, 'There is no such series.')
}
