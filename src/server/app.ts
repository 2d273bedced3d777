import type { IncomingMessage, Server } from 'node:http'
import type { Warn } from '../download/sources/window-source.js'
import { exportApi, greetingApi, klinesApi } from './apis.js'
import type { GreetingSettings } from './greeting/routes.js'
import { homeRoutes } from './home/routes.js'
import { HttpError, plainError } from './http/error.js'
import { hardenedServer } from './http/hardened-server.js'
import { HostCheck } from './http/host.js'
import { LIMITS, type Limits } from './http/limits.js'
import { Router, routeListener } from './http/router.js'
import { assetRoutes } from './pages/assets.js'
import { chartRoutes } from './pages/chart.js'
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

/** A server that does not listen yet, and what else has to end with it. */
export interface App {
  readonly server: Server
  /** Ends the work that is done beside requests. */
  stop(): void
}

/** The application: the file tree, exports, the greeting API, their documents and page, and one format for every error. */
export function createApp({ tree, host, onError = () => {}, limits = LIMITS, warn, ...greeting }: AppOptions): App {
  const stop = new AbortController()
  const endpoints = [...klinesApi(tree), ...exportApi(tree, limits, warn), ...greetingApi(greeting, limits)]
  const router = new Router([
    ...endpoints.map(endpoint => ({ ...endpoint, path: endpoint.route ?? endpoint.path })),
    ...homeRoutes(tree, { renewMs: limits.surveyMs, signal: stop.signal, onError }),
    ...chartRoutes(tree.mirror),
    ...assetRoutes(),
  ])
  const listener = routeListener(router, { check: requestCheck(new HostCheck(host), limits.urlBytes), onError })
  return { server: hardenedServer(listener, limits), stop: () => stop.abort() }
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
