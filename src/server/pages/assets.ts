import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { CODE_URL, PACKAGE_URL } from '../../version.js'
import type { Route } from '../app.js'
import { Body } from '../body.js'
import { sendBody } from '../send.js'

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

/** The routes of the scripts, styles and icons of all pages. Each file is read on first use. */
export function assetRoutes(): Route[] {
  const docs = ['page.js', 'page.css', 'favicon.svg']
  const swagger = ['swagger-ui-bundle.js', 'swagger-ui.css']
  const viewer = ['chart/main.js', 'chart/chart.css']
  return [
    ...docs.map(name => fileRoute(`/docs/${name}`, new URL(name, DOCS_FILES))),
    ...swagger.map(name => fileRoute(`/docs/${name}`, new URL(name, SWAGGER_FILES))),
    ...viewer.map(name => fileRoute(`/viewer/${name}`, new URL(name, VIEWER_FILES))),
  ]
}

function fileRoute(url: string, file: URL): Route {
  let body: Body | undefined
  return {
    method: 'GET',
    url,
    handler: (request, reply) => {
      body ??= new Body(readFileSync(file), { type: TYPES[extname(url)] })
      return sendBody(request, reply, body)
    },
  }
}
