import { expect } from 'vitest'
import { SAMPLE_TREE } from './sample-tree.js'
import { startTestServer } from './servers/test-server.js'

export const KLINES = '/api/openapi.json'
export const GREETING = '/api/static/openapi.json'
export const EXPORT = '/export/openapi.json'

// biome-ignore lint/suspicious/noExplicitAny: tests read a document by its own property names.
export type Document = any

/** Documents by path: fetched once a test file. */
const documents = new Map<string, string>()

/** The OpenAPI document that a server has at a path; a new copy each time. */
export async function documentAt(path: string): Promise<Document> {
  const text = documents.get(path) ?? (await fetchDocument(path))
  documents.set(path, text)
  return JSON.parse(text)
}

async function fetchDocument(path: string): Promise<string> {
  const { request } = await startTestServer(SAMPLE_TREE)
  const { status, headers, body } = await request(path)
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  return String(body)
}
