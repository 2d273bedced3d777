import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { CORS_HEADERS } from './cors.js'
import { errorHeaders, errorObject, HttpError, plainError } from './error.js'

/** A field of a request that its schema rejects. */
interface FieldFault {
  /** Such as `body.profile.age`. */
  readonly field: string
  readonly message: string
}

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

const PARTS = ['params', 'querystring', 'body'] as const
const PART_NAMES = { params: 'params', querystring: 'query', body: 'body' }

/** Throws `HttpError` 400 that lists every field which the endpoint's schemas reject. */
export async function checkFields(request: FastifyRequest): Promise<void> {
  const values = { params: request.params, querystring: request.query, body: request.body }
  const faults = PARTS.flatMap(part => findFaults(request.getValidationFunction(part), values[part], PART_NAMES[part]))
  if (faults.length === 0) return
  const [{ field, message }] = faults
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  throw new HttpError(400, `${field} ${message}${more}.`, { cause: faults })
}

type Check = ReturnType<FastifyRequest['getValidationFunction']> | undefined

function findFaults(check: Check, value: unknown, part: string): FieldFault[] {
  if (!check || check(value)) return []
  return (check.errors ?? []).map(({ instancePath, message = 'is wrong', keyword, params }) => {
    const missing = keyword === 'required' ? [String(params.missingProperty)] : []
    const names = [part, ...instancePath.split('/').slice(1), ...missing]
    const values = keyword === 'enum' ? `: ${(params.allowedValues as unknown[]).join(', ')}` : ''
    return { field: names.join('.'), message: missing.length > 0 ? 'is missing' : `${message}${values}` }
  })
}
