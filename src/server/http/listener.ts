import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { PREFLIGHT_HEADERS } from './cors.js'
import { HttpError, sendError, toHttpError } from './error.js'
import type { RouteMatch, Router } from './router.js'

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
