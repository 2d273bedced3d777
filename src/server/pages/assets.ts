import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname } from 'node:path'
import { pathToFileURL } from 'node:url'
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
/** The build compiles these modules, and copies the styles beside them. */
const VIEWER_FILES = new URL('dist/server/viewer/', PACKAGE_URL)
const CHART_LIBRARY = 'lightweight-charts.standalone.production.mjs'

/** The path of the chart library, which is a module without imports. */
export const CHART_LIBRARY_PATH = '/viewer/lightweight-charts.js'

/** Serves the scripts, styles and icons of all pages. Each file is read on first use. */
export function serveAssets(app: FastifyInstance): void {
  for (const name of ['page.js', 'page.css', 'favicon.svg'])
    serveFile(app, `/docs/${name}`, () => new URL(name, DOCS_FILES))
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    serveFile(app, `/docs/${name}`, () => new URL(name, SWAGGER_FILES))
  for (const name of viewerFiles()) serveFile(app, `/viewer/${name}`, () => new URL(name, VIEWER_FILES))
  serveFile(app, CHART_LIBRARY_PATH, findChartLibrary)
}

/** The scripts and styles of the browser code, relative to its folder, such as `chart/main.js`. */
function viewerFiles(): string[] {
  return readdirSync(VIEWER_FILES, { recursive: true, encoding: 'utf8' })
    .map(name => name.replaceAll('\\', '/'))
    .filter(name => TYPES[extname(name)] !== undefined)
    .sort()
}

/** The paths of the scripts in a folder of the browser code. */
export function viewerModules(folder: string): string[] {
  return viewerFiles()
    .filter(name => name.startsWith(`${folder}/`) && name.endsWith('.js'))
    .map(name => `/viewer/${name}`)
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

/** The package exports only its entry, so its folder is found by its package.json. */
function findChartLibrary(): URL {
  const folder = dirname(createRequire(import.meta.url).resolve('lightweight-charts/package.json'))
  return pathToFileURL(`${folder}/dist/${CHART_LIBRARY}`)
}
