import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HttpError } from '../../../src/server/http/error.js'
import { HardenedServer } from '../../../src/server/http/hardened-server.js'
import { addressUrl } from '../../../src/server/http/host.js'
import { type Route, Router, routeListener } from '../../../src/server/http/router.js'
import { expectError } from '../../support/servers/error-response.js'
import { RawClient, rawRequest } from '../../support/servers/raw-client.js'

const failure = new Error('The secret reason.')
const HANDLERS: Record<string, Route['handler']> = {
  '/throws': () => {
    throw failure
  },
  '/rejects': async () => {
    await nextTurn()
    throw failure
  },
  '/refuses': async () => {
    throw new HttpError(409, 'Not now.', { headers: { 'retry-after': '1' } })
  },
  '/bad-field': (_, response) => void response.writeHead(200, { field: 'a\nb' }).end(),
  '/begins': async (_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('begun')
    await nextTurn()
    throw failure
  },
  '/ends': async (_, response) => {
    response.writeHead(200, { 'content-length': '4' }).end('done')
    throw failure
  },
}

describe('an error of a handler', () => {
  const errors: Error[] = []
  const routes = Object.entries(HANDLERS).map(([path, handler]): Route => ({ method: 'GET', path, handler }))
  const options = { check: () => undefined, onError: (error: Error) => void errors.push(error) }
  const server = new HardenedServer(routeListener(new Router(routes), options))
  let url: string

  beforeAll(async () => {
    await once(server.listen({ host: '127.0.0.1', port: 0 }), 'listening')
    url = addressUrl(server.address() as AddressInfo)
  })
  afterAll(() => void server.close())
  beforeEach(() => void errors.splice(0))

  it.each(['/throws', '/rejects'])('before the head is a plain 500, which is reported: %s', async path => {
    const client = await RawClient.open(url)
    client.send(rawRequest(`GET ${path}`))
    const { message } = expectError(await client.next(), 500)
    expect([message, errors]).toEqual(['Internal error.', [failure]])
    client.close()
  })

  it('in a header field is a plain 500 too', async () => {
    const client = await RawClient.open(url)
    client.send(rawRequest('GET /bad-field'))
    const response = await client.next()
    expectError(response, 500)
    expect([response.headers.field, errors.length]).toEqual([undefined, 1])
    client.close()
  })

  it('that a client can do something about is not reported', async () => {
    const client = await RawClient.open(url)
    client.send(rawRequest('GET /refuses'))
    const response = await client.next()
    expectError(response, 409)
    expect([response.headers['retry-after'], errors]).toEqual(['1', []])
    client.close()
  })

  it('after the head ends the connection, and is reported', async () => {
    const client = await RawClient.open(url)
    client.send(Buffer.concat([rawRequest('GET /begins'), rawRequest('GET /ends')]))
    await expect(client.next()).rejects.toThrow()
    await client.closed
    expect(errors).toEqual([failure])
    client.close()
  })

  it('after the response changes nothing', async () => {
    const client = await RawClient.open(url)
    client.send(Buffer.concat([rawRequest('GET /ends'), rawRequest('GET /ends')]))
    for (const response of [await client.next(), await client.next()]) expect(String(response.body)).toBe('done')
    expect(errors).toEqual([])
    client.close()
  })
})
