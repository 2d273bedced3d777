import type { FastifyInstance } from 'fastify'
import { INTERVALS, type Interval, isInterval } from '../../klines/intervals.js'
import type { Series, WindowRef } from '../../klines/series.js'
import { isSymbol } from '../../klines/symbols.js'
import { EMPTY_WINDOW_BYTES, type Mirror } from '../../mirror/mirror.js'
import { serve } from '../endpoint.js'
import { Body } from '../http/body.js'
import { HttpError } from '../http/error.js'
import { sendBody } from '../http/send-body.js'
import { pageBody, sendPage } from '../pages/send-page.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import { findCoverage, findSeriesCoverage } from './coverage.js'
import { homePage, type PageContent } from './page.js'
import { describeSource } from './source.js'

/** Serves the page at `/`, and what its script reads. */
export function serveHome(app: FastifyInstance, tree: Tree): void {
  serve(app, {
    methods: ['GET', 'HEAD'],
    path: '/',
    handler: (request, reply) => sendPage(request, reply, pageBody(homePage(pageContent(tree.mirror)))),
  })
  serve(app, {
    methods: ['GET', 'HEAD'],
    path: '/coverage.json',
    handler: async (request, reply) => sendBody(request, reply, jsonBody(await findCoverage(tree, tree.now()))),
  })
  serve(app, {
    methods: ['GET', 'HEAD'],
    path: '/coverage/{interval}/{symbol}.json',
    handler: async (request, reply) => {
      const series = parseSeries(request.params as Record<string, string>)
      return sendBody(request, reply, jsonBody(await findSeriesCoverage(tree, series, tree.now())))
    },
  })
}

function jsonBody(value: object): Body {
  return new Body(Buffer.from(JSON.stringify(value)))
}

/** The series of a path. Throws `HttpError` 404. */
function parseSeries({ interval, symbol }: Record<string, string>): Series {
  if (isInterval(interval) && isSymbol(symbol)) return { symbol, interval }
  throw new HttpError(404, 'There is no such series.')
}

function pageContent(mirror: Mirror): PageContent {
  const intervals = INTERVALS.map(interval => ({ interval, example: findExample(mirror, interval) }))
  return { source: describeSource(mirror), symbols: listSymbols(mirror), intervals }
}

/** The oldest cached window of an interval that has candles, of the first symbol that has one. */
function findExample(mirror: Mirror, interval: Interval): WindowRef | undefined {
  for (const symbol of mirror.symbols()) {
    const windows = mirror.cachedStartDates({ interval, symbol }).map(startDate => ({ interval, symbol, startDate }))
    const example = windows.find(window => mirror.windowSize(window) > EMPTY_WINDOW_BYTES)
    if (example) return example
  }
  return undefined
}
