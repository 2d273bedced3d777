import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/server/connections.js'
import { WORD_MS } from '../../../src/server/greeting.js'
import { startServer } from '../../../src/server/server.js'
import { USER_TARGET, useHttpServer } from '../../support/servers/http-server.js'
import { RawClient, rawRequest } from '../../support/servers/raw-client.js'
import { deliver, makeWindow, WINDOW, WINDOW_PATH } from '../../support/servers/raw-requests.js'
import { putFile } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const TOKENS = rawRequest('GET /api/streams/tokens')
const SYMBOLS = rawRequest('GET /api/klines/symbols.json')

/** The number of active timers in this process; a token stream has one while it waits for its next word. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
}

/** Waits until a number of lines of a stream have arrived, without consuming them. */
async function waitForLines(client: RawClient, count: number): Promise<void> {
  const arrived = () => client.rest.toString().split('"message"').length > count
  while (!arrived()) await new Promise(resolve => client.socket.once('data', resolve))
}

describe('a client that disconnects', () => {
  const server = useHttpServer()

  it('its streams end at once', async () => {
    const before = countTimers()
    const clients = await Promise.all(Array.from({ length: 60 }, () => RawClient.open(server.url())))
    for (const client of clients) client.send(TOKENS)
    await Promise.all(clients.map(client => waitForLines(client, 3)))
    expect(countTimers() - before).toBeGreaterThan(50)
    // A word has just been sent, so without the disconnect the timers would run for nearly `WORD_MS`.
    for (const client of clients) client.close()
    await expect.poll(() => countTimers() - before, { interval: 5, timeout: WORD_MS / 2 }).toBeLessThan(10)
    expect(server.errors).toEqual([])
  })
})

describe('a server that closes', () => {
  const took = async (action: Promise<unknown>) => {
    const started = performance.now()
    await action
    return performance.now() - started
  }
  // So long that what waits for it is found out, also on a busy machine.
  const patient = { ...LIMITS, graceMs: 120_000 }
  /** A stream takes a second. */
  const streamText = 'Each word takes its time here.'
  const start = (limits = patient) => startServer({ root: tempFolder(), limits, streamText })

  it('lets a stream finish, and accepts no more connections', async () => {
    const server = await start()
    const client = await RawClient.open(server.url)
    client.send(TOKENS)
    await waitForLines(client, 1)
    const closing = server.close()
    await expect
      .poll(() =>
        RawClient.open(server.url).then(
          () => 'open',
          error => error.code,
        ),
      )
      .toBe('ECONNREFUSED')
    const { body } = await client.next()
    expect(body.toString()).toMatch(/ here\."\}\n$/)
    expect(await took(closing)).toBeLessThan(60_000)
    await client.closed
    client.close()
  })

  it('F66 sends whole responses to clients that read slowly', async () => {
    const root = tempFolder()
    putFile(root, WINDOW_PATH, makeWindow(672))
    const server = await startServer({ root, limits: patient })
    const clients = await Promise.all(Array.from({ length: 2 }, () => RawClient.open(server.url)))
    // More than the buffers of the kernel hold.
    const requests = Array<Buffer>(120).fill(WINDOW)
    for (const client of clients) {
      client.socket.pause()
      await deliver(client, Buffer.concat(requests), server.url)
    }
    const closing = server.close()
    const responses = clients.map(client => Promise.all(requests.map(() => client.next())))
    for (const client of clients) client.socket.resume()
    for (const received of await Promise.all(responses)) {
      expect(received.every(({ status, body }) => status === 200 && body.equals(makeWindow(672)))).toBe(true)
    }
    for (const client of clients) client.close()
    await closing
  })

  it('F66 answers requests that have just arrived, and ends their connections', async () => {
    const server = await start()
    const clients = await Promise.all(Array.from({ length: 15 }, () => RawClient.open(server.url)))
    for (const client of clients.slice(5)) {
      client.send(SYMBOLS)
      expect((await client.next()).status).toBe(200)
    }
    for (const client of clients) client.send(SYMBOLS)
    const closing = server.close()
    for (const client of clients) {
      expect(await client.next()).toMatchObject({ status: 200, headers: { connection: 'close' } })
      await client.closed
      client.close()
    }
    await closing
  })

  it('does not wait for idle connections', async () => {
    const server = await start()
    const clients = await Promise.all(Array.from({ length: 5 }, () => RawClient.open(server.url)))
    for (const client of clients.slice(1)) client.send(SYMBOLS)
    for (const client of clients.slice(1)) expect((await client.next()).status).toBe(200)
    expect(await took(server.close())).toBeLessThan(60_000)
    await Promise.all(clients.map(client => client.closed))
    for (const client of clients) client.close()
  })

  it('waits for its grace period at most', async () => {
    const server = await start({ ...LIMITS, graceMs: 300 })
    const slow = await RawClient.open(server.url)
    slow.send(rawRequest(`POST ${USER_TARGET}`, ['Content-Type: application/json', 'Content-Length: 100'], '{'))
    const streaming = await RawClient.open(server.url)
    streaming.send(TOKENS)
    await waitForLines(streaming, 1)
    const time = await took(server.close())
    expect(time).toBeGreaterThan(270)
    // The server ends the body that never comes after ten seconds anyway.
    expect(time).toBeLessThan(9_000)
    await slow.closed
    for (const client of [slow, streaming]) client.close()
    // The port is free again.
    const next = createServer()
    await new Promise<void>(resolve => next.listen(Number(new URL(server.url).port), '127.0.0.1', resolve))
    next.close()
  })
})
