import dns, { type LookupAllOptions } from 'node:dns'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { closedPort } from '../support/servers/closed-port.js'
import { RawServer } from '../support/servers/raw-server.js'
import { expectPlainText, expectUnreachable, SHORT_DELAYS } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, LIST, useFaultScenarios } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { ok } from './support/responses.js'

const newScenario = useFaultScenarios()

describe('F01 connection refused', () => {
  it.concurrent('always', async () => {
    const scenario = await newScenario()
    await expectUnreachable(scenario, `http://127.0.0.1:${await closedPort()}`, /connection refused \(ECONNREFUSED\)/)
  })

  it.concurrent('in the middle of a run: stored windows stay', async () => {
    const scenario = await newScenario()
    scenario.server.script(FAULTY, ({ socket }) => {
      socket.destroy()
      void scenario.server.stop()
    })
    const run = await scenario.download({ policy: SHORT_DELAYS, args: ['--concurrency', '1'] })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(
      /^klines: 5 of 8 windows could not be downloaded[^\n]*\n5 x connection refused \(ECONNREFUSED\) \(/,
    )
    expectPlainText(run.stderr)
    const before = ALL_WINDOWS.slice(0, ALL_WINDOWS.indexOf(FAULTY))
    expect(scenario.mirroredFiles()).toEqual([...before, LIST].sort())
    expect(scenario.outputs()).toEqual([])
  })
})

describe('F33 DNS', () => {
  /** A service whose host name resolves after some failures, or never; `lookUps`: of its name. */
  async function serviceByName(code: string, times = Infinity) {
    const scenario = await newScenario()
    const lookUps: string[] = []
    const lookUp = (
      hostname: string,
      { all }: LookupAllOptions,
      callback: (error: unknown, ...found: unknown[]) => void,
    ) => {
      lookUps.push(hostname)
      const error = Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), {
        code,
        syscall: 'getaddrinfo',
        hostname,
      })
      if (lookUps.length <= times) process.nextTick(callback, error)
      else if (all) process.nextTick(callback, null, [{ address: '127.0.0.1', family: 4 }])
      else process.nextTick(callback, null, '127.0.0.1', 4)
    }
    const spy = vi.spyOn(dns, 'lookup').mockImplementation(lookUp as never)
    onTestFinished(() => spy.mockRestore())
    return { scenario, baseUrl: `http://klines.test:${scenario.server.port}`, lookUps }
  }

  it.each([
    ['ENOTFOUND', 1, /no such host \(ENOTFOUND\)/],
    ['EAI_AGAIN', 6, /the name service did not answer \(EAI_AGAIN\)/],
  ])('%s is looked up %d times', async (code, lookUpsExpected, message) => {
    const { scenario, baseUrl, lookUps } = await serviceByName(code)
    await expectUnreachable(scenario, baseUrl, message)
    expect(lookUps).toEqual(Array(lookUpsExpected).fill('klines.test'))
  })

  it('that fails three times and then resolves', async () => {
    const { scenario, baseUrl } = await serviceByName('EAI_AGAIN', 3)
    expect(await scenario.download({ baseUrl, policy: SHORT_DELAYS })).toMatchObject({ code: 0, stderr: '' })
    expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
  })
})

describe('F34 a proxy', () => {
  const proxies: RawServer[] = []
  afterAll(() => Promise.all(proxies.map(proxy => proxy.stop())))

  it.concurrent('that refuses connections', async () => {
    const scenario = await newScenario()
    const env = { HTTP_PROXY: `http://127.0.0.1:${await closedPort()}` }
    const message = new RegExp(`the proxy ${env.HTTP_PROXY} of HTTP_PROXY: connection refused \\(ECONNREFUSED\\)`)
    await expectUnreachable(scenario, scenario.server.url, message, { env, advice: /HTTP_PROXY.*NO_PROXY/ })
    expect(scenario.server.log).toEqual([])
    // The environment of this process may name the proxy of another test now.
    await scenario.expectRepair(ALL_WINDOWS, { byProgram: true })
  })

  it.concurrent.each([
    ['wants a password', 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n', /407/],
    ['speaks another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', /HTTP|protocol/i],
  ])('that %s', async (_, response, message) => {
    const scenario = await newScenario()
    const proxy = await RawServer.listen(socket => socket.end(response))
    proxies.push(proxy)
    await expectUnreachable(scenario, scenario.server.url, message, { env: { HTTP_PROXY: proxy.url } })
    expect(scenario.server.log).toEqual([])
  })
})

describe('response headers', () => {
  const HEADERS: readonly [string, FaultResponse, RegExp][] = [
    ['F35 a field of 100 KB', ok('[]', `X-Large: ${'x'.repeat(100_000)}`), /response headers are too large/],
    [
      'F36 endless fields',
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
  it.concurrent.each(HEADERS)('%s are not requested again', async (_, response, message) => {
    const scenario = await newScenario()
    scenario.server.always(LIST, response)
    await expectUnreachable(scenario, scenario.server.url, message)
    expect(scenario.server.requestsFor(LIST)).toHaveLength(1)
    await scenario.expectRepair(ALL_WINDOWS)
  })
})
