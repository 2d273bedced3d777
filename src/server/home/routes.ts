import type { FastifyInstance } from 'fastify'
import { INTERVALS, type Interval } from '../../klines/intervals.js'
import type { WindowRef } from '../../klines/series.js'
import { EMPTY_WINDOW_BYTES, type Mirror } from '../../mirror/mirror.js'
import { serve } from '../endpoint.js'
import { Body } from '../http/body.js'
import { sendBody } from '../http/send-body.js'
import { pageBody, sendPage } from '../pages/send-page.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import { findCoverage } from './coverage.js'
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
    handler: async (request, reply) => {
      const coverage = await findCoverage(tree, tree.now())
      return sendBody(request, reply, new Body(Buffer.from(JSON.stringify(coverage))))
    },
  })
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
