import { expect } from 'vitest'
import { SAMPLE_TREE } from './sample-tree.js'
import { startTestServer } from './servers/test-server.js'

export const KLINES = '/api/openapi.json'
export const GREETING = '/api/static/openapi.json'

// biome-ignore lint/suspicious/noExplicitAny: a document is read as its readers do, by its own names.
export type Document = any

/** The OpenAPI document that a server has at a path. */
export async function documentAt(path: string, strict = false): Promise<Document> {
  const { request } = await startTestServer(SAMPLE_TREE, { strict })
  const { status, headers, body } = await request(path)
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  return JSON.parse(String(body))
}
