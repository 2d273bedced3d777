import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { HttpError, PREFLIGHT_HEADERS, sendError, toHttpError } from './error.js'

/** The parameters of a path by name, decoded. */
export type Params = Readonly<Record<string, string>>

/** A path and what answers its requests. */
export interface Route {
  /** A route of GET answers HEAD too. */
  readonly method: 'GET' | 'POST'
  /** A segment may be a parameter, also with a text behind it: `/api/users/{id}`, `/lists/{name}.json`. */
  readonly path: string
  /** Whether pages of other sites may not read its responses. */
  readonly isPrivate?: boolean | undefined
  /** Sends the response. What it throws is sent as an error, and ends the connection once the head was sent. */
  readonly handler: (request: IncomingMessage, response: ServerResponse, params: Params) => void | Promise<void>
}

/** The route of a request, and the parameters of its path. */
interface RouteMatch {
  readonly route: Route
  readonly params: Params
}

/** A segment of a route's path: a text, or a parameter. */
type Segment = string | { readonly name: string; readonly pattern: RegExp }

/** The routes of a server. Of two that match a path, the first counts. */
export class Router {
  private readonly routes: readonly { readonly route: Route; readonly pattern: readonly Segment[] }[]

  constructor(routes: readonly Route[]) {
    this.routes = routes.map(route => ({ route, pattern: route.path.split('/').map(toSegment) }))
  }

  /** Finds the route of a request target. Returns `HttpError` 400 for a malformed %-escape, 404 for a path without a route. */
  find(target: string): RouteMatch | HttpError {
    const path = pathOf(target)
    const segments = path === undefined ? undefined : decodeSegments(path)
    if (!segments) return MALFORMED
    for (const { route, pattern } of this.routes) {
      const params = matchSegments(pattern, segments)
      if (params) return { route, params }
    }
    return NOTHING
  }
}

// A new error for each request would take longer than finding out.
const MALFORMED = new HttpError(400, 'The address has a % that begins no escape of UTF-8.')
const NOTHING = new HttpError(404, 'There is nothing at this path.')

function toSegment(text: string): Segment {
  const [, name, ending] = /^\{(\w+)\}(.*)$/.exec(text) ?? []
  if (name === undefined) return text
  return { name, pattern: ending === '' ? /^(.*)$/s : new RegExp(`^(.*)${ending.replaceAll('.', '\\.')}$`) }
}

/** The path of a request target; undefined for an address that is no URL. The path of `*` is `/`. */
export function pathOf(target: string): string | undefined {
  if (target.startsWith('/')) return withoutQuery(target)
  if (target === '*') return '/'
  const [, rest] = /^https?:\/\/[^/?#]*(.*)$/is.exec(target) ?? []
  // An address of another scheme (RFC 9112, 3.2.2) is no path of this server.
  if (rest === undefined) return withoutQuery(target)
  return URL.canParse(target) ? withoutQuery(rest) || '/' : undefined
}

/** `#` is no part of a valid target; what it begins is none of the path either. */
function withoutQuery(target: string): string {
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

/** An escaped slash (%2F) separates no segments. Undefined for a malformed escape. */
function decodeSegments(path: string): string[] | undefined {
  const segments = path.split('/')
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    return undefined
  }
}

function matchSegments(pattern: readonly Segment[], segments: readonly string[]): Params | undefined {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (let index = 0; index < pattern.length; index++) {
    const part = pattern[index]
    if (typeof part === 'string') {
      if (part !== segments[index]) return undefined
      continue
    }
    const found = part.pattern.exec(segments[index])
    if (!found) return undefined
    params[part.name] = found[1]
  }
  return params
}

/** What a listener does beside finding routes. */
interface ListenerOptions {
  /** The error that a request gets whatever its path, before its body is read; undefined for a valid one. */
  readonly check: (request: IncomingMessage) => HttpError | undefined
  /** Called with every internal error; the client only gets a plain 500. */
  readonly onError: (error: Error) => void
}

/** Answers every request by its route, or with an error object. */
export function routeListener(router: Router, { check, onError }: ListenerOptions): RequestListener {
  return (request, response) => {
    const found = router.find(request.url ?? '')
    const fail = (error: Error) => {
      // Node's parser has rejected the rest of the request meanwhile, which got an error for that.
      if (response.writableEnded) return
      const httpError = toHttpError(error)
      if (httpError.statusCode === 500) onError(error)
      if (response.headersSent) response.destroy()
      else sendError(httpError, request, response, !(found instanceof HttpError) && found.route.isPrivate)
    }
    try {
      const refusal = check(request)
      if (refusal) throw refusal
      if (found instanceof HttpError) throw found
      answer(found, request, response)?.catch(fail)
    } catch (error) {
      fail(error as Error)
    }
  }
}

/** Throws `HttpError` 405 for a method that the route does not have. */
function answer({ route, params }: RouteMatch, request: IncomingMessage, response: ServerResponse) {
  const { method } = request
  const isRead = route.method === 'GET'
  if (method === route.method || (method === 'HEAD' && isRead)) return route.handler(request, response, params)
  const allow = isRead ? 'GET, HEAD, OPTIONS' : `${route.method}, OPTIONS`
  if (method !== 'OPTIONS') throw new HttpError(405, `Only ${allow} here.`, { headers: { allow } })
  response.writeHead(204, { ...(isRead && !route.isPrivate && PREFLIGHT_HEADERS), allow }).end()
  return undefined
}
