import { expect } from 'vitest'
import { FULL_WEEKS, OPEN_WEEK, weekPath } from '../synthetic-tree.js'
import { parseErrorObject, type TestResponse } from './test-server.js'
import { type UpstreamOptions, upstreamSetup } from './upstream-setup.js'

export type UpstreamSetup = Awaited<ReturnType<typeof upstreamSetup>>

/** A final window and an open one, which are held, and one that is not. */
export const FINAL_WINDOW = weekPath('BTCUSDT', FULL_WEEKS[0])
export const OPEN_WINDOW = weekPath('BTCUSDT', OPEN_WEEK)
export const MISSING_WINDOW = weekPath('ETHUSDT', FULL_WEEKS[0])

/** A server with a service behind it that has brought two windows, and a service that has forgotten that. */
export async function cachedSetup(options?: UpstreamOptions): Promise<UpstreamSetup> {
  const all = await upstreamSetup(options)
  for (const path of [FINAL_WINDOW, OPEN_WINDOW]) expect((await all.request(path)).headers.warning).toBeUndefined()
  all.service.reset()
  return all
}

/** The error object, kept by no cache. */
export function expectErrorObject(answer: TestResponse, statusCode: number): void {
  expect(answer.status).toBe(statusCode)
  expect(parseErrorObject(answer)).toEqual({ statusCode, message: expect.any(String), isError: true })
  expect(answer.headers['cache-control']).toBe('no-store')
}

/** What is held, and that it may be old: a warning that any client can read; and a cache has to ask again. */
export async function expectCachedWithWarning({ request, original }: UpstreamSetup): Promise<void> {
  for (const method of ['GET', 'HEAD']) {
    const answer = await request(OPEN_WINDOW, { method })
    expect(answer.status).toBe(200)
    expect(answer.headers.warning).toMatch(/^111 \S+ "[\x20\x21\x23-\x5b\x5d-\x7e]+"$/)
    expect(answer.headers['cache-control']).toBe('no-cache')
    if (method === 'GET') expect(answer.body.equals(original(OPEN_WINDOW))).toBe(true)
  }
}

/** What is final has no warning, whatever the service does. */
export async function expectFinalUnchanged({ request, original }: UpstreamSetup): Promise<void> {
  const answer = await request(FINAL_WINDOW)
  expect([answer.status, answer.headers.warning]).toEqual([200, undefined])
  expect(answer.headers['cache-control']).toContain('immutable')
  expect(answer.body.equals(original(FINAL_WINDOW))).toBe(true)
}
