import { expect } from 'vitest'
import { FULL_WEEKS, OPEN_WEEK, weekPath } from '../synthetic-tree.js'
import { parseErrorObject, type TestResponse } from './test-server.js'
import { type UpstreamOptions, upstreamSetup } from './upstream-setup.js'

export type UpstreamSetup = Awaited<ReturnType<typeof upstreamSetup>>

/** A final and an open window, both cached, and one that is missing. */
export const FINAL_WINDOW = weekPath('BTCUSDT', FULL_WEEKS[0])
export const OPEN_WINDOW = weekPath('BTCUSDT', OPEN_WEEK)
export const MISSING_WINDOW = weekPath('ETHUSDT', FULL_WEEKS[0])

/** A server with an upstream service that has cached two windows; the service's log is empty. */
export async function cachedSetup(options?: UpstreamOptions): Promise<UpstreamSetup> {
  const setup = await upstreamSetup(options)
  for (const path of [FINAL_WINDOW, OPEN_WINDOW]) expect((await setup.request(path)).headers.warning).toBeUndefined()
  setup.service.reset()
  return setup
}

/** Expects the error object, which no cache may store. */
export function expectErrorObject(response: TestResponse, statusCode: number): void {
  expect(response.status).toBe(statusCode)
  expect(parseErrorObject(response)).toEqual({ statusCode, message: expect.any(String), isError: true })
  expect(response.headers['cache-control']).toBe('no-store')
}

/** Expects the cached open window with a warning that it may be stale; caches have to revalidate it. */
export async function expectCachedWithWarning({ request, original }: UpstreamSetup): Promise<void> {
  for (const method of ['GET', 'HEAD']) {
    const response = await request(OPEN_WINDOW, { method })
    expect(response.status).toBe(200)
    expect(response.headers.warning).toMatch(/^111 \S+ "[\x20\x21\x23-\x5b\x5d-\x7e]+"$/)
    expect(response.headers['cache-control']).toBe('no-cache')
    if (method === 'GET') expect(response.body.equals(original(OPEN_WINDOW))).toBe(true)
  }
}

/** Expects the final window without a warning, whatever the service does. */
export async function expectFinalUnchanged({ request, original }: UpstreamSetup): Promise<void> {
  const response = await request(FINAL_WINDOW)
  expect([response.status, response.headers.warning]).toEqual([200, undefined])
  expect(response.headers['cache-control']).toContain('immutable')
  expect(response.body.equals(original(FINAL_WINDOW))).toBe(true)
}
