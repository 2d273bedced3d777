import type { FastifyInstance } from 'fastify'
import { serve } from '../endpoint.js'
import { pageBody, sendPage } from '../pages/send-page.js'
import { chartPage } from './page.js'

/** Serves the candle viewer. Its script reads the series from the address, whatever that names. */
export function serveChart(app: FastifyInstance): void {
  const page = pageBody(chartPage())
  for (const path of ['/chart', '/chart/{symbol}', '/chart/{symbol}/{interval}']) {
    serve(app, {
      methods: ['GET', 'HEAD'],
      path,
      isPrivate: true,
      handler: (request, reply) => sendPage(request, reply, page),
    })
  }
}
