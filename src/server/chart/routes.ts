import type { FastifyInstance } from 'fastify'
import { serve } from '../endpoint.js'
import type { Body } from '../http/body.js'
import { CHART_LIBRARY_PATH, viewerModules } from '../pages/assets.js'
import { pageBody, sendPage } from '../pages/send-page.js'
import { chartPage } from './page.js'

/** Serves the candle viewer. Its script reads the series from the address, whatever that names. */
export function serveChart(app: FastifyInstance): void {
  let page: Body | undefined
  for (const path of ['/chart', '/chart/{symbol}', '/chart/{symbol}/{interval}']) {
    serve(app, {
      methods: ['GET', 'HEAD'],
      path,
      isPrivate: true,
      handler: (request, reply) => {
        page ??= pageBody(chartPage([CHART_LIBRARY_PATH, ...viewerModules('chart')]))
        return sendPage(request, reply, page)
      },
    })
  }
}
