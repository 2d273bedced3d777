import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { toStatusError } from '../../src/sources/answer.js'
import { banFile, bannedUntil, rememberBan } from '../../src/sources/bans.js'
import { Fetcher } from '../../src/sources/fetcher.js'
import { HttpTransport, type WholeResponse } from '../../src/sources/transport.js'
import { catchError } from '../support/errors.js'
import { FakeClock } from '../support/fake-clock.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const NOW = Date.UTC(2025, 1, 12, 12)
const HOST = 'https://one.example'
const accept = (response: WholeResponse) => {
  if (response.status !== 200) throw toStatusError(response)
  return response.status
}

beforeEach(() => {
  const { XDG_CACHE_HOME } = process.env
  process.env.XDG_CACHE_HOME = tempFolder()
  onTestFinished(() => {
    process.env.XDG_CACHE_HOME = XDG_CACHE_HOME
  })
})

/** A server, and runs that share a clock and a cache folder, as processes do. */
async function setup() {
  const server = await TreeServer.start(tempFolder())
  const clock = new FakeClock(NOW)
  server.always('a', { body: '[]' })
  server.always('b', { body: '[]' })
  const newRun = () => {
    const transport = new HttpTransport(server.url, { connections: 4 })
    const fetcher = new Fetcher(transport, server.url, { concurrency: 4, clock, random: () => 0, origin: server.url })
    onTestFinished(() => fetcher.close())
    return (path: string) => fetcher.get({ path, accept, signal: new AbortController().signal })
  }
  const ban = (seconds: number) => ({ status: 418, headers: { 'retry-after': String(seconds) } })
  return { server, clock, newRun, ban }
}

describe('a ban', () => {
  it('ends every other run before its first request, until its end', async () => {
    const { server, clock, newRun, ban } = await setup()
    server.script('a', ban(300))
    expect(await catchError(newRun()('a'))).toMatchObject({
      code: 'rate_limited',
      message: `${server.url} answered 418 (I'm a Teapot): this address is banned until 2025-02-12T12:05:00Z.`,
    })
    expect(await catchError(newRun()('b'))).toMatchObject({
      code: 'rate_limited',
      message: `${server.url} answered before 418 (I'm a Teapot): this address is banned until 2025-02-12T12:05:00Z.`,
      data: { status: 418, until: '2025-02-12T12:05:00Z' },
      suggestions: [expect.stringMatching(/^Wait until then/), expect.stringContaining(banFile() ?? '')],
    })
    await clock.sleep(5 * MINUTE - 1)
    expect(await catchError(newRun()('b'))).toMatchObject({ code: 'rate_limited' })
    expect(server.paths()).toEqual(['a'])
    await clock.sleep(1)
    expect(await newRun()('b')).toBe(200)
  })

  it('of some seconds ends a run too: no run waits for the end of a ban', async () => {
    const { server, clock, newRun, ban } = await setup()
    server.script('a', ban(5))
    expect(await catchError(newRun()('a'))).toMatchObject({ code: 'rate_limited' })
    expect(await catchError(newRun()('a'))).toMatchObject({ code: 'rate_limited' })
    expect(clock.now()).toBe(NOW)
  })

  it('that cannot be remembered is known to its own run alone', async () => {
    const { server, newRun, ban } = await setup()
    process.env.XDG_CACHE_HOME = join(tempFolder(), 'file')
    writeFileSync(process.env.XDG_CACHE_HOME, '')
    server.script('a', ban(300))
    const first = newRun()
    expect(await catchError(first('a'))).toMatchObject({ code: 'rate_limited' })
    expect(await catchError(first('b'))).toMatchObject({ code: 'rate_limited' })
    expect(await newRun()('b')).toBe(200)
  })

  it.each([429, 503])('is another thing than %d with Retry-After, which no other run hears of', async status => {
    const { server, newRun } = await setup()
    server.always('a', { status, headers: { 'retry-after': '3600' } })
    expect(await catchError(newRun()('a'))).toMatchObject({ code: 'rate_limited' })
    expect(await newRun()('b')).toBe(200)
  })
})

describe('the file of bans', () => {
  it('has each host with its time, and is written whole', () => {
    rememberBan(HOST, NOW + HOUR)
    rememberBan('http://127.0.0.1:8080', NOW + MINUTE)
    expect(bannedUntil(HOST, NOW)).toBe(NOW + HOUR)
    expect(bannedUntil('http://127.0.0.1:8080', NOW)).toBe(NOW + MINUTE)
    expect(bannedUntil('http://127.0.0.1:8081', NOW)).toBeUndefined()
    expect(bannedUntil(HOST, NOW + HOUR)).toBeUndefined()
    expect(readdirSync(dirname(banFile() as string))).toEqual(['bans.json'])
    expect(JSON.parse(readFileSync(banFile() as string, 'utf8'))).toEqual({
      [HOST]: '2025-02-12T13:00:00.000Z',
      'http://127.0.0.1:8080': '2025-02-12T12:01:00.000Z',
    })
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{"'],
    ['null', 'null'],
    ['an array', '[]'],
    ['a time that is none', JSON.stringify({ [HOST]: 'tomorrow' })],
    ['a time that has passed', JSON.stringify({ [HOST]: new Date(NOW).toISOString() })],
    ['a time that no host says', JSON.stringify({ [HOST]: '9999-01-01T00:00:00.000Z' })],
  ])('is not believed blindly: %s', (_, text) => {
    const path = banFile() as string
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    expect(bannedUntil(HOST, NOW)).toBeUndefined()
    rememberBan(HOST, NOW + HOUR)
    expect(bannedUntil(HOST, NOW)).toBe(NOW + HOUR)
  })

  it('is missing for a user without a cache folder', () => {
    const { HOME } = process.env
    onTestFinished(() => void Object.assign(process.env, { HOME }))
    Object.assign(process.env, { XDG_CACHE_HOME: '', HOME: '/nonexistent' })
    expect(banFile()).toBeUndefined()
    rememberBan(HOST, NOW + HOUR)
    expect(bannedUntil(HOST, NOW)).toBeUndefined()
  })
})
