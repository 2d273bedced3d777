import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { SAMPLE } from '../sources/base-url.js'
import { CODE_URL, PACKAGE_URL } from '../version.js'
import { Body } from './body.js'
import type { Route } from './route.js'
import { sendBody } from './send.js'
import type { ServedMirror } from './served-mirror.js'

/** Text that is HTML already and needs no escaping. */
export class Html {
  constructor(readonly text: string) {}
}

/** What a template takes: any text, which it escapes, and HTML. */
type HtmlValue = string | number | Html | readonly Html[]

/** Tag of HTML templates: escapes every value that is not `Html`. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts[0] + values.map((value, index) => toMarkup(value) + parts[index + 1]).join(''))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function toMarkup(value: HtmlValue): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toMarkup).join('')
  return String(value).replace(/[&<>"']/g, character => ENTITIES[character])
}

/** What every page of the sample shows: its prices must never be taken for real ones. */
export const SAMPLE_BADGE = html`<span class="sample" title="Synthetic data: no market ever traded at these prices">Sample data, not prices</span>`

/** Only files of this server, and no inline scripts or styles; Swagger UI's icons are `data:` URLs. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/** The route of a page. A page of another site may link to it, and not read it. */
export function pageRoute(url: string, makePage: () => string | Promise<string>): Route {
  const handler: Route['handler'] = async (request, reply) => {
    const body = new Body(Buffer.from(await makePage()), { type: 'text/html; charset=utf-8', isPrivate: true })
    return sendBody(request, reply, body, SECURITY_HEADERS)
  }
  return { method: 'GET', url, isPrivate: true, handler }
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const DOCS_FILES = new URL('server/docs/assets/', CODE_URL)
/** The build copies these files of Swagger UI, and bundles the browser code. */
const [SWAGGER_FILES, VIEWER_FILES] = ['dist/swagger-ui/', 'dist/server/viewer/'].map(
  path => new URL(path, PACKAGE_URL),
)

/** The routes of pages that are files, and of the scripts, styles and icons of all pages. Each file is read on first use. */
export function fileRoutes(mirror: ServedMirror): Route[] {
  const bodies = new Map<string, Body>()
  const file = (folder: string, files: URL) => (name: string) => {
    const handler: Route['handler'] = (request, reply) => {
      const body = bodies.get(name) ?? new Body(readFileSync(new URL(name, files)), { type: TYPES[extname(name)] })
      bodies.set(name, body)
      return sendBody(request, reply, body)
    }
    return { method: 'GET' as const, url: `/${folder}/${name}`, handler }
  }
  const readPage = (name: string) => readFileSync(new URL(`${name}.html`, DOCS_FILES), 'utf8')
  // Its script reads the series from the address. A mirror may get its source while it is served.
  const chart = () => readPage('chart').replace('<!-- badge -->', mirror.baseUrl === SAMPLE ? SAMPLE_BADGE.text : '')
  return [
    pageRoute('/reference', () => readPage('reference')),
    ...['', '/', '/:symbol', '/:symbol/', '/:symbol/:interval'].map(path => pageRoute(`/chart${path}`, chart)),
    ...['page.js', 'page.css', 'favicon.svg'].map(file('docs', DOCS_FILES)),
    ...['swagger-ui-bundle.js', 'swagger-ui.css'].map(file('docs', SWAGGER_FILES)),
    ...['chart/main.js', 'chart/chart.css'].map(file('viewer', VIEWER_FILES)),
  ]
}
