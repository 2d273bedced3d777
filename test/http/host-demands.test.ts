import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toStatusError } from '../../src/http/fetched.js'
import { RETRY_POLICY, type RetryPolicy } from '../../src/http/retry.js'
import { type NetworkActivity, RetryingFetcher } from '../../src/http/retrying-fetcher.js'
import { HttpTransport, type WholeResponse } from '../../src/http/transport/transport.js'
import { catchError } from '../support/errors.js'
import { FakeClock } from '../support/fake-clock.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

const [MINUTE, _HOUR] = [60_000, 3_600_000]
const NOW = Date.UTC(2025, 1, 12, 12)
const OK = { body: '["BTCUSDT"]' }
const { signal } = new AbortController()
const accept = (response: WholeResponse) => {
  if (response.status !== 200) throw toStatusError(response)
  return response.status
}

/** A server, and runs that share a clock and a cache folder, as processes do. */
async function setup(policy: Partial<RetryPolicy> = {}) {
  const server = await TreeServer.start(tempFolder())
  const clock = new FakeClock(NOW)
  const path = join(tempFolder(), '.bans', 'host')
  server.always('a', OK)
  server.always('b', OK)
  const newRun = (banFile = path, onActivity?: (activity: NetworkActivity) => void) => {
    const fetcher = new RetryingFetcher(new HttpTransport(server.url, { connections: 4 }), server.url, {
      concurrency: 4,
      clock,
      random: () => 0,
      policy: { ...RETRY_POLICY, ...policy },
      banFile,
      onActivity,
    })
    onTestFinished(() => fetcher.close())
    return (file: string) => fetcher.get({ path: file, signal, accept })
  }
  const limitedTo = (status: number, seconds: number) => ({ status, headers: { 'retry-after': String(seconds) } })
  return { server, clock, path, newRun, limitedTo }
}

describe('a ban', () => {
  it('ends every other run before its first request, until its end', async () => {
    const { server, clock, path, newRun, limitedTo } = await setup()
    server.script('a', limitedTo(418, 300))
    const first = newRun()
    expect(await catchError(first('a'))).toMatchObject({
      code: 'rate_limited',
      message: `${server.url} answered 418 (I'm a Teapot): this address is banned until 2025-02-12T12:05:00Z.`,
    })
    const error = await catchError(newRun()('b'))
    expect(error).toMatchObject({
      code: 'rate_limited',
      message: `${server.url} answered before 418 (I'm a Teapot): this address is banned until 2025-02-12T12:05:00Z.`,
      data: { status: 418, until: '2025-02-12T12:05:00Z' },
      suggestions: [expect.stringMatching(/^Wait until then/), expect.stringContaining(path)],
    })
    await clock.sleep(5 * MINUTE - 1)
    for (const run of [first, newRun()]) expect(await catchError(run('b'))).toMatchObject({ code: 'rate_limited' })
    expect(server.paths()).toEqual(['a'])
    await clock.sleep(1)
    for (const run of [first, newRun()]) expect(await run('b')).toBe(200)
    expect(server.paths()).toEqual(['a', 'b', 'b'])
  })

  it('of some seconds ends a run too: no run waits for the end of a ban', async () => {
    const { server, clock, newRun, limitedTo } = await setup()
    server.script('a', limitedTo(418, 5))
    expect(await catchError(newRun()('a'))).toMatchObject({ code: 'rate_limited' })
    expect(await catchError(newRun()('a'))).toMatchObject({ code: 'rate_limited' })
    expect(clock.now()).toBe(NOW)
  })

  it('ends a run that has begun', async () => {
    const { server, newRun, limitedTo } = await setup()
    const running = newRun()
    expect(await running('b')).toBe(200)
    server.script('a', limitedTo(418, 300))
    await catchError(newRun()('a'))
    expect(await catchError(running('b'))).toMatchObject({ code: 'rate_limited', data: { status: 418 } })
    expect(server.paths()).toEqual(['b', 'a'])
  })

  it('that cannot be remembered is known to its own run alone', async () => {
    const { server, newRun, limitedTo } = await setup()
    const file = join(tempFolder(), 'file')
    writeFileSync(file, '')
    const path = join(file, '.bans', 'host')
    server.script('a', limitedTo(418, 300))
    const first = newRun(path)
    expect(await catchError(first('a'))).toMatchObject({ code: 'rate_limited' })
    expect(await catchError(first('b'))).toMatchObject({ code: 'rate_limited' })
    expect(await newRun(path)('b')).toBe(200)
  })
})

describe('429', () => {
  it('does not let a server wait, whose policy allows no wait', async () => {
    const { server, newRun, limitedTo } = await setup({ maxRetryAfterMs: 0 })
    server.script('a', limitedTo(429, 5))
    expect(await catchError(newRun()('a'))).toMatchObject({
      code: 'rate_limited',
      data: { until: '2025-02-12T12:00:05Z' },
    })
    expect(server.paths()).toEqual(['a'])
  })

  it.each([429, 503, 500, 403])('no other run hears of %d with Retry-After', async status => {
    const { server, newRun, limitedTo } = await setup()
    server.always('a', limitedTo(status, 3_600))
    expect(await catchError(newRun()('a'))).toMatchObject({ code: 'rate_limited' })
    expect(await newRun()('b')).toBe(200)
  })
})
