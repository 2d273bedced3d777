import { METHODS } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KlinesError } from '../candles/errors.js'
import { describeErrno } from '../fs/errno.js'
import { API_SPECS, type ApiName } from '../greeting/client.js'
import { cleanText } from '../sources/fetch-error.js'
import { Body, type Route, sendBody } from './body.js'
import { LIMITS, type Limits, watchConnections } from './connections.js'
import { HttpError, sendError, toHttpError } from './errors.js'
import { exchangeRoutes } from './exchange-paths.js'
import { exportRoutes } from './export.js'
import { ExportFiles } from './export-files.js'
import { Followers } from './follow.js'
import { greetingRoutes } from './greeting.js'
import { clientAddress, requestBaseUrl, requestCheck, serverUrls } from './hosts.js'
import { pageRoutes } from './pages.js'
import { ServedMirror } from './served-mirror.js'
import { Tree, treeRoutes } from './tree.js'
import { type OpenUpstream, Upstream } from './upstream.js'

export interface ServerOptions {
  readonly root: string
  /** The source that the mirror has or is going to have. Default: what `mirror.json` says. */
  readonly source?: string | undefined
  /** The address to listen on, default 127.0.0.1, this machine alone; and the port: 0, the default, picks a free one. */
  readonly host?: string | undefined
  readonly port?: number | undefined
  /** Further names that requests may be sent to while it listens on the loopback, such as that of a proxy in front of it. */
  readonly allowHost?: readonly string[] | undefined
  /** The text that the greeting API streams, word by word. */
  readonly streamText?: string | undefined
  /** Opens the service that fetches windows which are missing or not final. */
  readonly upstream?: OpenUpstream | undefined
  /** Called with what the operator should know, such as a corrupt file of the mirror. */
  readonly warn?: ((warning: string) => void) | undefined
  /** Called with every internal error; the client gets a plain 500. */
  readonly onError?: ((error: Error) => void) | undefined
  /** Called with a line after every request that Node could parse. */
  readonly log?: ((line: string) => void) | undefined
  readonly limits?: Limits
  readonly now?: () => number
}

/** A server that listens, of `serve`. */
export interface Serving {
  /** Its address, such as `http://127.0.0.1:8787`. */
  readonly url: string
  /** Its addresses for other machines, if it listens on all addresses of this one. */
  readonly otherUrls: readonly string[]
  /** Stops accepting connections, answers the requests that were received (for five seconds at most), and closes. */
  close(): Promise<void>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    isPrivate?: boolean | undefined
  }
}

/** Throws `address_unusable` when it cannot listen, and what `upstream` throws. */
export async function startServer(options: ServerOptions): Promise<Serving> {
  const { port = 0, now = Date.now, root, source, warn = () => {} } = options
  const host = options.host || '127.0.0.1' // An empty one would be every address.
  const said = new Set<string>()
  const warnOnce = (text: string) => {
    if (!said.has(text)) warn(text)
    said.add(text)
  }
  const mirror = new ServedMirror(root, source, warnOnce)
  const upstream = options.upstream && new Upstream(options.upstream, mirror, now)
  const tree = new Tree(mirror, upstream, now, warnOnce)
  const specs = (Object.keys(API_SPECS) as ApiName[]).map(name => specRoute(name, tree))
  const exports = new ExportFiles(tree, (options.limits ?? LIMITS).exportWaitMs, warnOnce)
  const followers = new Followers(tree, options.limits ?? LIMITS, warnOnce)
  const follow: Route = {
    method: 'GET',
    url: '/follow/:interval/:symbol',
    handler: (...call) => followers.open(...call),
  }
  const served = [...treeRoutes(tree), ...exchangeRoutes(tree), ...exportRoutes(tree, exports), follow]
  const routes = [...served, ...greetingRoutes(options.streamText), ...specs, ...pageRoutes(tree)]
  const { app, finish } = await createApp(routes, { ...options, host })
  // A wrong configuration fails early.
  await upstream?.take()
  try {
    // The first address of "localhost" may be ::1, which not every client tries.
    await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  } catch (error) {
    await Promise.all([app.close(), upstream?.close()])
    throw toListenError(error as NodeJS.ErrnoException, host, port)
  }
  return {
    ...serverUrls(app.server.address() as AddressInfo),
    close: async () => {
      followers.closing.abort()
      await Promise.all([app.close(), finish()])
      await Promise.all([upstream?.close(), exports.close()])
    },
  }
}

function specRoute(name: ApiName, tree: Tree): Route {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const { describeApi } = await import('./openapi.js')
    const document = describeApi(name, tree, requestBaseUrl(request.raw))
    return sendBody(request, reply, new Body(Buffer.from(JSON.stringify(document))), { vary: 'accept-encoding, host' })
  }
  return { method: 'GET', url: `/${API_SPECS[name]}`, handler }
}

/** The response to a preflight: pages of other sites may read the public data, but not send POST. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

const noCompiler = () => () => {
  throw new Error('No route has a schema.')
}

/** Fastify with these routes: one format for every error, and 405 for the other methods of each path. */
async function createApp(
  routes: readonly Route[],
  { onError, limits = LIMITS, log, ...options }: ServerOptions & { host: string },
) {
  const check = requestCheck(options)
  const { fastify } = await import('fastify')
  const fail = (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    const { raw } = reply
    reply.hijack()
    // Node's parser has rejected the rest of the request meanwhile, which got an error for that.
    if (raw.writableEnded) return
    const httpError = toHttpError(error)
    if (httpError.statusCode === 500) onError?.(error)
    const isPublic = !request.routeOptions.config?.isPrivate
    if (raw.headersSent) raw.destroy()
    else sendError(httpError, request.raw, raw, { isPublic, isLast: reply.getHeader('connection') === 'close' })
  }
  const app = fastify({
    http: {
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
      // Node answers a missing Host with an empty 400.
      requireHostHeader: false,
    },
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxRequestsPerSocket: limits.requests,
    bodyLimit: limits.bodyBytes,
    // `watchConnections` has its own.
    clientErrorHandler: () => {},
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // No route has a schema, and the compiler of schemas takes long to load.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // Longer than any target: the length of that is checked.
    routerOptions: { maxParamLength: 8 * 1024 },
    frameworkErrors: (_error, request, reply) => {
      const message = 'The address has a % that begins no escape of UTF-8.'
      fail(check(request.raw) ?? new HttpError(400, message), request, reply)
    },
  })
  const finish = watchConnections(app.server, limits)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'))
  app.setErrorHandler(fail)
  // Before a body is read, which nobody needs.
  app.addHook('onRequest', (request, reply, done) => {
    if (log) logRequest(log, request, reply)
    done(check(request.raw) ?? (request.is404 ? new HttpError(404) : undefined))
  })
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  for (const { method, url, isPrivate, handler } of routes) {
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
    const others = METHODS.filter(name => !methods.includes(name) && name !== 'CONNECT')
    const allow = [...methods, 'OPTIONS'].join(', ')
    const answer = (request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void) => {
      if (request.method !== 'OPTIONS') return done(new HttpError(405, `Only ${allow} here.`, { headers: { allow } }))
      const cors = method === 'GET' && !isPrivate && PREFLIGHT_HEADERS
      reply.code(204).headers({ ...cors, allow })
      reply.send()
    }
    app.route({ method: methods, url, handler, config: { isPrivate } })
    app.route({ method: others, url, onRequest: answer, handler: () => {}, config: { isPrivate } })
  }
  return { app, finish }
}

function toListenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const reason = cause.code === 'EADDRINUSE' ? 'the port is in use' : describeErrno(cause)
  const advice =
    'Name an address of this machine with --host, and a free port above 1023 with --port; --port 0 picks one.'
  const message = `Cannot listen on ${host}, port ${port}: ${reason}.`
  return new KlinesError('address_unusable', message, { cause, suggestions: [advice], data: { host, port } })
}

/** The address is untrusted text. A client that leaves before it gets an answer is no line. */
function logRequest(log: (line: string) => void, { raw }: FastifyRequest, { raw: response }: FastifyReply): void {
  const client = clientAddress(raw)
  const [started, before] = [performance.now(), raw.socket.bytesWritten]
  response.once('close', () => {
    if (!response.headersSent) return
    const sent = `${response.statusCode} ${raw.socket.bytesWritten - before} B`
    const tookMs = (performance.now() - started).toFixed(1)
    log(`${new Date().toISOString()} ${client} ${raw.method} ${cleanText(raw.url ?? '', 200)} ${sent} ${tookMs} ms`)
  })
}
