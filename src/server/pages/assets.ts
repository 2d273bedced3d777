import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { CODE_URL, PACKAGE_URL } from '../../version.js'
import { serve } from '../endpoint.js'
import { Body } from '../http/body.js'
import { sendBody } from '../http/send-body.js'

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const DOCS_FILES = new URL('server/docs/assets/', CODE_URL)
/** The build copies these files of Swagger UI. */
const SWAGGER_FILES = new URL('dist/swagger-ui/', PACKAGE_URL)
/** The build bundles the browser code into these files. */
const VIEWER_FILES = new URL('dist/server/viewer/', PACKAGE_URL)

/** Serves the scripts, styles and icons of all pages. Each file is read on first use. */
export function serveAssets(app: FastifyInstance): void {
  for (const name of ['page.js', 'page.css', 'favicon.svg'])
    serveFile(app, `/docs/${name}`, () => new URL(name, DOCS_FILES))
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    serveFile(app, `/docs/${name}`, () => new URL(name, SWAGGER_FILES))
  for (const name of ['chart/main.js', 'chart/chart.css', 'home/main.js', 'home/home.css'])
    serveFile(app, `/viewer/${name}`, () => new URL(name, VIEWER_FILES))
}

function serveFile(app: FastifyInstance, path: string, findFile: () => URL): void {
  let body: Body | undefined
  serve(app, {
    methods: ['GET', 'HEAD'],
    path,
    handler: (request, reply) => {
      body ??= new Body(readFileSync(findFile()), { type: TYPES[extname(path)] })
      return sendBody(request, reply, body)
    },
  })
}
