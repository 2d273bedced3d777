import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { CORS_HEADERS } from './cors.js'
import { errorHeaders, errorObject, HttpError, plainError } from './error.js'

/** Converts any error: returns an `HttpError` unchanged, Fastify's errors by their status, others as 500. */
export function toHttpError(error: Error | FastifyError): HttpError {
  if (error instanceof HttpError) return error
  const { statusCode = 500, code } = error as Partial<FastifyError>
  if (code === 'FST_ERR_BAD_URL') return new HttpError(400, 'The address has a % that begins no escape of UTF-8.')
  // Fastify's messages about malformed bodies reveal nothing internal.
  const isPublic = statusCode === 400 && code?.startsWith('FST_')
  return isPublic ? new HttpError(400, error.message) : plainError(statusCode)
}

/** The configuration of a route. */
export interface RouteConfig {
  /** Whether pages of other sites may not read its responses. */
  readonly isPrivate?: boolean | undefined
}

/** Sends the error object. */
export function sendError(error: HttpError, request: FastifyRequest, reply: FastifyReply): void {
  reply.code(error.statusCode).headers(errorHeaders(error))
  const { isPrivate } = (request.routeOptions?.config ?? {}) as RouteConfig
  if (!isPrivate && (request.method === 'GET' || request.method === 'HEAD')) reply.headers(CORS_HEADERS)
  reply.send(JSON.stringify(errorObject(error)))
}
