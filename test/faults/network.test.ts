import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../support/deferred.js'
import { deadPort } from '../support/servers/closed-port.js'
import { RawServer } from '../support/servers/raw-server.js'
import { ok } from './support/answers.js'
import { expectAway, expectPlain, HASTY } from './support/fault-row.js'
import { ALL_WINDOWS, FAULTY, LIST, usePlaces } from './support/fault-scenario.js'
import type { FaultAnswer } from './support/fault-server.js'
import { useListening } from './support/listening.js'

const newPlace = usePlaces()
const listen = useListening()

describe('F01 connection refused', () => {
  it.concurrent('for ever', async () => {
    const place = await newPlace()
    await expectAway(place, `http://127.0.0.1:${await deadPort()}`, /connection refused \(ECONNREFUSED\)/)
  })

  it.concurrent('at first, then well', async () => {
    const place = await newPlace()
    const port = place.server.port
    await place.server.stop()
    const policy = { tries: 60, baseDelayMs: 100, maxDelayMs: 100 }
    const { running } = place.start(place.args(['--json'], `http://127.0.0.1:${port}`), { policy })
    // The mirror is made right before the first request.
    await until(() => place.desk.exists('m/mirror.json'), 30_000)
    await new Promise(resolve => setTimeout(resolve, 600))
    await place.server.listenAt(port)
    const run = await running.ended
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(run.stdout).requests).toBeGreaterThan(place.server.log.length)
    expect(place.server.log).toHaveLength(ALL_WINDOWS.length + 1)
    expect(place.desk.text('x.csv')).toBe(place.csv())
  })

  it.concurrent('in the middle of a run: what was had stays', async () => {
    const place = await newPlace()
    place.server.script(FAULTY, ({ socket }) => {
      socket.destroy()
      void place.server.stop()
    })
    const run = await place.download({ policy: HASTY, args: ['--concurrency', '1'] })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(
      /^klines: 5 of 8 windows could not be had[^\n]*\n5 x connection refused \(ECONNREFUSED\) \(/,
    )
    expectPlain(run.stderr)
    const before = ALL_WINDOWS.slice(0, ALL_WINDOWS.indexOf(FAULTY))
    expect(place.held()).toEqual([...before, LIST].sort())
    expect(place.outputs()).toEqual([])
  })
})

describe('F33 DNS', () => {
  /** A host of a name that resolves after some failures. */
  async function named(code: string, times?: number) {
    const place = await newPlace()
    const log = join(place.desk.folder, '..', 'memory-dns')
    const options = { preload: ['failing-dns.mjs'], env: { KLINES_TEST_DNS: JSON.stringify({ code, times, log }) } }
    return {
      place,
      options,
      baseUrl: `http://klines.test:${place.server.port}`,
      lookUps: () => readFileSync(log, 'utf8'),
    }
  }

  it.concurrent.each([
    ['ENOTFOUND', 1, /no such host \(ENOTFOUND\)/],
    ['EAI_AGAIN', 6, /the name service did not answer \(EAI_AGAIN\)/],
  ])('%s is asked for %d times', async (code, lookUpsExpected, says) => {
    const { place, options, baseUrl, lookUps } = await named(code)
    await expectAway(place, baseUrl, says, options)
    expect(lookUps().match(/klines\.test/g)).toHaveLength(lookUpsExpected)
  })

  it.concurrent('that fails three times and then does not', async () => {
    const { place, options, baseUrl } = await named('EAI_AGAIN', 3)
    const run = await place.download({ baseUrl, policy: HASTY, ...options })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(place.desk.text('x.csv')).toBe(place.csv())
  })
})

describe('F34 a proxy', () => {
  const proxies: RawServer[] = []
  afterAll(() => Promise.all(proxies.map(proxy => proxy.stop())))

  it.concurrent('that is not there', async () => {
    const place = await newPlace()
    const env = { HTTP_PROXY: `http://127.0.0.1:${await deadPort()}` }
    await expectAway(place, place.server.url, /connection refused \(ECONNREFUSED\)/, { env })
    expect(place.server.log).toEqual([])
    await place.expectRepair(ALL_WINDOWS)
  })

  it.concurrent.each([
    ['wants a password', 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n', /407/],
    ['cannot reach the host', 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n', /502/],
    ['speaks of other things', 'SSH-2.0-OpenSSH_9.6\r\n', /HTTP|protocol/i],
  ])('that %s', async (_, answer, says) => {
    const place = await newPlace()
    const proxy = await RawServer.listen(socket => socket.end(answer))
    proxies.push(proxy)
    await expectAway(place, place.server.url, says, { env: { HTTP_PROXY: proxy.url } })
    expect(place.server.log).toEqual([])
  })

  it.concurrent('that answers with pages of its own', async () => {
    const place = await newPlace()
    const web = createHttpServer((_, response) => response.end('<html>blocked</html>'))
    web.on('connect', (_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      web.emit('connection', socket)
    })
    const env = { HTTP_PROXY: `http://127.0.0.1:${await listen(web)}` }
    await expectAway(place, place.server.url, /not JSON/, { env })
    expect(place.server.log).toEqual([])
  })
})

describe('response headers', () => {
  const HEADERS: readonly [string, FaultAnswer, RegExp][] = [
    ['F35 a field of 100 KB', ok('[]', `X-Large: ${'x'.repeat(100_000)}`), /response headers are too large/],
    [
      'F35 ten thousand fields',
      ok('[]', ...Array.from({ length: 10_000 }, (_, n) => `X-${n}: y`)),
      /response headers are too large/,
    ],
    [
      'F36 fields without an end',
      ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const more = () => {
          for (let sent = 0; sent < 64 && !socket.destroyed; sent++)
            if (!socket.write(`X: ${'y'.repeat(4_000)}\r\n`)) break
        }
        socket.on('drain', more)
        more()
      },
      /response headers are too large/,
    ],
  ]
  it.concurrent.each(HEADERS)('%s, which is not asked for again', async (_, answer, says) => {
    const place = await newPlace()
    place.server.always(LIST, answer)
    await expectAway(place, place.server.url, says)
    expect(place.server.asked(LIST)).toHaveLength(1)
    await place.expectRepair(ALL_WINDOWS)
  })
})
