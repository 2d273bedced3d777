import type { IncomingMessage } from 'node:http'
import type { Warn } from '../download/sources/window-source.js'
import { EXPORT_SPEC_PATH, GREETING_SPEC_PATH, KLINES_SPEC_PATH } from '../greeting-client/paths.js'
import { type ApiInfo, describeApi, type Endpoint, specEndpoint } from './docs/openapi.js'
import { exportEndpoints } from './export/routes.js'
import { type GreetingSettings, greetingEndpoints } from './greeting/routes.js'
import { homeRoutes } from './home/routes.js'
import { Body } from './http/body.js'
import { HttpError, plainError } from './http/error.js'
import { HardenedServer } from './http/hardened-server.js'
import { HostCheck } from './http/host.js'
import { LIMITS, type Limits } from './http/limits.js'
import { Router, routeListener } from './http/router.js'
import { assetRoutes } from './pages/assets.js'
import { chartRoutes } from './pages/chart.js'
import { treeEndpoints } from './tree/routes.js'
import type { Tree } from './tree/tree.js'

/** The parts and settings of the application. */
export interface AppOptions extends GreetingSettings {
  readonly tree: Tree
  /** The host that the server listens on: the one name besides those of the loopback that a request may carry. */
  readonly host: string
  /** Called with every internal error; the client only gets a plain 500. */
  readonly onError?: ((error: Error) => void) | undefined
  readonly limits?: Limits | undefined
  /** Receives warnings for the operator, such as that an export was cut. */
  readonly warn?: Warn | undefined
}

/** The application: the file tree, exports, the greeting API, their documents and page, and one format for every error. */
export function createApp({
  tree,
  host,
  onError = () => {},
  limits = LIMITS,
  warn,
  ...greeting
}: AppOptions): HardenedServer {
  const endpoints = [...klinesApi(tree), ...exportApi(tree, warn), ...greetingApi(greeting, limits)]
  const router = new Router([
    ...endpoints.map(endpoint => ({ ...endpoint, path: endpoint.route ?? endpoint.path })),
    ...homeRoutes(tree),
    ...chartRoutes(tree.mirror),
    ...assetRoutes(),
  ])
  const listener = routeListener(router, { check: requestCheck(new HostCheck(host), limits.urlBytes), onError })
  return new HardenedServer(listener, limits)
}

/** Checks the request line and Host of a request, whatever its path. */
function requestCheck(hosts: HostCheck, urlBytes: number) {
  return (request: IncomingMessage): HttpError | undefined => {
    const { url = '', method, httpVersionMajor } = request
    // Node reads any version from 0.9 to 2.0, each as if it were 1.1.
    if (httpVersionMajor !== 1) return plainError(505)
    const error = hosts.check(request)
    if (error) return error
    if (url.length > urlBytes) return plainError(414)
    // RFC 9112, 3.2: a target has no fragment, and the asterisk is for OPTIONS.
    const isTarget = !url.includes('#') && (!url.startsWith('*') || (url === '*' && method === 'OPTIONS'))
    return isTarget ? undefined : new HttpError(400, 'The request target is not valid.')
  }
}

/** The klines API: the same paths as the public service, for all intervals, and its own description. */
function klinesApi(tree: Tree): Endpoint[] {
  const info = {
    title: 'klines API',
    version: '0.1.8',
    description:
      'Historical spot candles as static JSON files, one a calendar window: the list of symbols, the list of start dates ' +
      'of each interval, and a file for every interval, symbol and start date. All times are UTC. HEAD, conditional ' +
      'requests, one byte range, gzip and br are answered everywhere.',
    tags: { meta: 'What there is: symbols, start dates and this description', klines: 'Candles, one file a window' },
  }
  return describedApi(info, treeEndpoints(tree), KLINES_SPEC_PATH, 'meta')
}

/** Exports of the tree, and their own description. `warn` receives warnings for the operator. */
function exportApi(tree: Tree, warn?: Warn): Endpoint[] {
  const info = {
    title: 'klines export API',
    version: '1.0.0',
    description:
      'The candles of a series as one file: CSV, JSON, JSON Lines, Parquet or Arrow, with the range, columns ' +
      'and interval that the query names. All times are UTC.',
    tags: { export: 'Files of candles', meta: 'This description' },
  }
  return describedApi(info, exportEndpoints(tree, warn), EXPORT_SPEC_PATH, 'meta')
}

/** The greeting API: user updates, the token stream, and its own description. Throws `bad_option`, as `greetingEndpoints`. */
function greetingApi(settings: GreetingSettings, limits: Limits): Endpoint[] {
  const info = {
    // The title of the public instance.
    title: '"Hello World" app API',
    version: '1.0.0',
    description: 'Update a user, stream tokens, and this description.',
    tags: { UserRPC: 'Users', StreamRPC: 'Streams', OpenApiRPC: 'This description' },
  }
  return describedApi(info, greetingEndpoints(settings, limits), GREETING_SPEC_PATH, 'OpenApiRPC')
}

/** Adds the endpoint of the OpenAPI document that describes all of them, itself too. */
function describedApi(info: ApiInfo, endpoints: readonly Endpoint[], path: string, tag: string): Endpoint[] {
  const described = endpoints.filter(({ isDescribed = true }) => isDescribed)
  let latest: { baseUrl: string; body: Body } | undefined
  const document = (baseUrl: string) => {
    // Most clients send the same Host again.
    if (latest?.baseUrl !== baseUrl) {
      latest = { baseUrl, body: new Body(Buffer.from(JSON.stringify(describeApi(info, described, baseUrl)))) }
    }
    return latest.body
  }
  const spec = specEndpoint(path, tag, document)
  described.push(spec)
  return [...endpoints, spec]
}
