import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ParsedUrlQuery, parse } from 'node:querystring'
import type { TSchema } from 'typebox'
import { HttpError, plainError } from './error.js'
import type { Validator } from './validator.js'

/** Schemas of the parts of a request. */
interface FieldSchemas {
  readonly params?: TSchema | undefined
  readonly query?: TSchema | undefined
  readonly body?: TSchema | undefined
}

/** A field of a request that its schema rejects. */
interface FieldFault {
  /** Such as `body.profile.age`. */
  readonly field: string
  readonly message: string
}

const PARTS = ['params', 'query', 'body'] as const

/** The parts of a request. */
type Fields = Readonly<Record<(typeof PARTS)[number], unknown>>

/**
 * Returns a check that throws `HttpError` 400 with every field which the schemas reject. The first call compiles them: that
 * takes a tenth of a second, and most servers never get such a request.
 */
export function fieldCheck(schemas: FieldSchemas): (fields: Fields) => Promise<void> {
  let validators: Promise<Map<(typeof PARTS)[number], Validator>> | undefined
  return async fields => {
    validators ??= compile(schemas).catch(error => {
      // The next request tries again.
      validators = undefined
      throw error
    })
    const faults = [...(await validators)].flatMap(([part, validate]) => findFaults(validate, fields[part], part))
    if (faults.length === 0) return
    const [{ field, message }] = faults
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
    throw new HttpError(400, `${field} ${message}${more}.`, { cause: faults })
  }
}

async function compile(schemas: FieldSchemas): Promise<Map<(typeof PARTS)[number], Validator>> {
  const { compileSchema } = await import('./validator.js')
  return new Map(
    PARTS.flatMap(part => {
      const schema = schemas[part]
      return schema ? [[part, compileSchema(schema)]] : []
    }),
  )
}

function findFaults(validate: Validator, value: unknown, part: string): FieldFault[] {
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message = 'is wrong', keyword, params }) => {
    const missing = keyword === 'required' ? [String(params.missingProperty)] : []
    const names = [part, ...instancePath.split('/').slice(1), ...missing]
    const values = keyword === 'enum' ? `: ${(params.allowedValues as unknown[]).join(', ')}` : ''
    return { field: names.join('.'), message: missing.length > 0 ? 'is missing' : `${message}${values}` }
  })
}

/**
 * The query of a request target by name; a name that is given more than once has an array. What is no escape of UTF-8 stays as it
 * is: the check of the fields says what is wrong with it.
 */
export function parseQuery(target: string): ParsedUrlQuery {
  const [, text = ''] = /\?(.*)$/s.exec(target) ?? []
  return parse(text.replaceAll('+', ' '), '&', '=', { maxKeys: 0, decodeURIComponent: decodeField })
}

function decodeField(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Reads the JSON body of a request; undefined when there is neither a body nor a Content-Type. Throws `HttpError`: 400 for what is
 * empty, no JSON, or has a key that changes the prototype of an object into which it is merged; 413 for more than `limit` bytes; 415
 * for another type. After an error in the body the response is the last one of its connection, because the client may still send.
 */
export async function readJson(request: IncomingMessage, response: ServerResponse, limit: number): Promise<unknown> {
  const { 'content-type': type, 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  if (type === undefined && length === '0' && coding === undefined) return undefined
  if (type?.split(';', 1)[0].trim().toLowerCase() !== 'application/json') throw plainError(415)
  try {
    if (Number(length) > limit) throw plainError(413)
    return parseJson(await readBytes(request, limit))
  } catch (error) {
    if (!response.headersSent) response.setHeader('connection', 'close')
    throw error
  }
}

/** By events: a loop over the request would destroy its connection after an error, and with it the response. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) reject(plainError(413))
      else chunks.push(chunk)
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    // The client has disconnected.
    request.once('error', () => reject(plainError(400)))
  })
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) {
    throw new HttpError(400, "Body cannot be empty when content-type is set to 'application/json'")
  }
  const text = bytes.toString().replace(/^\ufeff/, '')
  try {
    const value: unknown = JSON.parse(text)
    if (!hasPrototypeKey(value)) return value
  } catch {}
  throw new HttpError(400, "Body is not valid JSON but content-type is set to 'application/json'")
}

/** Not recursive: a body may be nested deeper than the stack. */
function hasPrototypeKey(value: unknown): boolean {
  const pending = [value]
  for (const node of pending) {
    if (typeof node !== 'object' || node === null) continue
    if (Object.hasOwn(node, '__proto__')) return true
    for (const [key, child] of Object.entries(node)) {
      const isObject = typeof child === 'object' && child !== null
      if (isObject && key === 'constructor' && Object.hasOwn(child, 'prototype')) return true
      if (isObject) pending.push(child)
    }
  }
  return false
}
