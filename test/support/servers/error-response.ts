import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import { PROJECT } from '../cli/cli-sandbox.js'
import type { RawResponse } from './raw-client.js'

/** The statuses of the error object in the service's OpenAPI description, and 431, which that list lacks. */
const ALLOWED = [
  ...[100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 424],
  ...[428, 429, 431, 500, 501, 502, 503, 504, 505],
]

/** Text that no client may see: folders of this machine and stack traces. */
const INTERNALS = [PROJECT, tmpdir(), 'node_modules', '\\n', '   at ', 'Error:', 'file:']
/** Names from the server's libraries that no client may see. */
const LIBRARY_NAMES =
  /FST_|HPE_|ERR_|\bE(?!THUSDT)[A-Z]{4,}\b|[Ff]astify|find-my-way|[Aa]jv|typebox|llhttp|undici|node:|undefined|\[object/

export interface ErrorBody {
  readonly statusCode: number
  readonly message: string
  readonly isError: true
  readonly cause?: unknown
}

/** Expects the service's error object with this status and no internal details; returns it. */
export function expectError({ status, headers, body }: RawResponse, expected: number): ErrorBody {
  const text = body.toString()
  expect([status, text]).toEqual([expected, expect.stringMatching(/^\{.*\}$/)])
  expectErrorHeaders({ status, headers }, expected)
  expect(headers['content-length']).toBe(String(body.length))
  const error = JSON.parse(text) as ErrorBody
  const { statusCode, message, isError, ...rest } = error
  expect({ statusCode, isError, others: Object.keys(rest).filter(key => key !== 'cause') }).toEqual({
    statusCode: status,
    isError: true,
    others: [],
  })
  expect(message).toMatch(/^\S+ .+\S$/)
  for (const internal of INTERNALS) expect(text).not.toContain(internal)
  expect(text).not.toMatch(LIBRARY_NAMES)
  return error
}

/** Expects the header fields of an error response, also of HEAD. */
export function expectErrorHeaders(
  { status, headers }: Pick<RawResponse, 'status' | 'headers'>,
  expected: number,
): void {
  expect(status).toBe(expected)
  expect(ALLOWED).toContain(status)
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': expect.stringMatching(/^[1-9]\d*$/),
    date: expect.stringMatching(/ GMT$/),
  })
  for (const field of ['server', 'x-powered-by', 'etag', 'last-modified']) expect(headers).not.toHaveProperty(field)
}
