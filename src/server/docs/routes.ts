import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { INTERVALS, type Interval } from '../../klines/intervals.js'
import type { WindowRef } from '../../klines/series.js'
import { EMPTY_WINDOW_BYTES, type Mirror } from '../../mirror/mirror.js'
import { CODE_URL, PACKAGE_URL } from '../../version.js'
import { serve } from '../endpoint.js'
import { Body } from '../http/body.js'
import { sendBody } from '../http/send-body.js'
import { listSymbols } from '../tree/tree.js'
import { docsPage, type PageContent } from './page.js'

const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const STYLE_TYPE = 'text/css; charset=utf-8'

const OWN_FILES = new URL('server/docs/assets/', CODE_URL)
/** The build copies these files of Swagger UI. */
const SWAGGER_FILES = new URL('dist/swagger-ui/', PACKAGE_URL)

/** The files of the page by name, read on first use. */
const ASSETS: Record<string, { type: string; folder: URL }> = {
  'page.js': { type: SCRIPT_TYPE, folder: OWN_FILES },
  'page.css': { type: STYLE_TYPE, folder: OWN_FILES },
  'favicon.svg': { type: 'image/svg+xml', folder: OWN_FILES },
  'swagger-ui-bundle.js': { type: SCRIPT_TYPE, folder: SWAGGER_FILES },
  'swagger-ui.css': { type: STYLE_TYPE, folder: SWAGGER_FILES },
}

/** Only files of this server, and no inline scripts or styles; Swagger UI's icons are `data:` URLs. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/** Serves the page at `/` and its scripts, styles and icon. */
export function serveDocs(app: FastifyInstance, mirror: Mirror): void {
  serve(app, {
    methods: ['GET', 'HEAD'],
    path: '/',
    handler: (request, reply) => {
      const page = Buffer.from(docsPage(pageContent(mirror)))
      return sendBody(request, reply, new Body(page, { type: 'text/html; charset=utf-8' }), SECURITY_HEADERS)
    },
  })
  for (const [name, { type, folder }] of Object.entries(ASSETS)) {
    let body: Body | undefined
    serve(app, {
      methods: ['GET', 'HEAD'],
      path: `/docs/${name}`,
      handler: (request, reply) => {
        body ??= new Body(readFileSync(new URL(name, folder)), { type })
        return sendBody(request, reply, body)
      },
    })
  }
}

function pageContent(mirror: Mirror): PageContent {
  const intervals = INTERVALS.map(interval => ({ interval, example: findExample(mirror, interval) }))
  return { baseUrl: mirror.baseUrl, symbols: listSymbols(mirror), intervals }
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
