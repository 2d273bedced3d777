import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import { PROJECT } from '../cli/cli-sandbox.js'
import type { RawResponse } from './raw-client.js'

/** The statuses an error object may carry, as service.md lists them under "Errors"; and 431, which has no other form. */
const ALLOWED = [
  ...[100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 424],
  ...[428, 429, 431, 500, 501, 502, 503, 504, 505],
]

/** What no client is to see: folders of this machine, stacks, and the words of what the server is made of. */
const INSIDE = [PROJECT, tmpdir(), 'node_modules', '\\n', '   at ', 'Error:', 'file:']
const WORDS =
  /FST_|HPE_|ERR_|\bE[A-Z]{4,}\b|[Ff]astify|find-my-way|[Aa]jv|typebox|llhttp|undici|node:|undefined|\[object/

export interface ErrorBody {
  readonly statusCode: number
  readonly message: string
  readonly isError: true
  readonly cause?: unknown
}

/** That an answer is the error object of service.md with this status, and says nothing of our inside; what it says. */
export function expectError({ status, headers, body }: RawResponse, wanted: number): ErrorBody {
  const text = body.toString()
  expect([status, text]).toEqual([wanted, expect.stringMatching(/^\{.*\}$/)])
  expectErrorHeaders({ status, headers }, wanted)
  expect(headers['content-length']).toBe(String(body.length))
  const error = JSON.parse(text) as ErrorBody
  const { statusCode, message, isError, ...rest } = error
  expect({ statusCode, isError, more: Object.keys(rest).filter(key => key !== 'cause') }).toEqual({
    statusCode: status,
    isError: true,
    more: [],
  })
  expect(message).toMatch(/^\S+ .+\S$/)
  for (const inside of INSIDE) expect(text).not.toContain(inside)
  expect(text).not.toMatch(WORDS)
  return error
}

/** What is true of the header of every error answer, of HEAD too. */
export function expectErrorHeaders({ status, headers }: Pick<RawResponse, 'status' | 'headers'>, wanted: number): void {
  expect(status).toBe(wanted)
  expect(ALLOWED).toContain(status)
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': expect.stringMatching(/^[1-9]\d*$/),
    date: expect.stringMatching(/ GMT$/),
  })
  for (const field of ['server', 'x-powered-by', 'etag', 'last-modified']) expect(headers).not.toHaveProperty(field)
}
