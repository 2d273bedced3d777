import { describe, expect, it } from 'vitest'
import { OpenApiRPC, StreamRPC, UserRPC } from 'vovk-hello-world'
import type { LoggedRequest } from '../../../src/server/request-log.js'
import { until } from '../../support/deferred.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { requestFrom, startTestServer } from '../../support/servers/test-server.js'

const ID = '123e4567-e89b-12d3-a456-426614174000'
const USER = { email: 'a@example.com', profile: { name: 'Ada', age: 30 } }
const log = (requests: LoggedRequest[]) => ({ log: (request: LoggedRequest) => requests.push(request) })

/** A server, and where the client finds it. */
async function apiRootOf(strict: boolean, requests: LoggedRequest[] = []) {
  const { url } = await startTestServer(SAMPLE_TREE, { strict, ...log(requests) })
  return { url, apiRoot: `${url}/api` }
}

/** What a call is rejected with: the client's HttpException, a class it does not export. */
async function exceptionOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: Error & { statusCode?: number }) => thrown,
  )
  const { statusCode, message, cause } = error ?? {}
  return { statusCode, message, cause }
}

describe.each([false, true])('the published client of the greeting API, strict: %s', strict => {
  it.each(['email', 'push', 'none'] as const)('updates a user, to be told by %s', async notify => {
    const { apiRoot } = await apiRootOf(strict)
    const result = await UserRPC.updateUser({ params: { id: ID }, query: { notify }, body: USER, apiRoot })
    expect(result).toEqual({ success: true, id: ID, notify })
  })

  it('gets its exception for a wrong update, with what is wrong', async () => {
    const { apiRoot } = await apiRootOf(strict)
    const body = { email: 'nobody', profile: { name: 'Ada', age: -1 } }
    const call = UserRPC.updateUser({
      params: { id: 'me' },
      query: { notify: 'email' },
      body,
      apiRoot,
      disableClientValidation: true,
    })
    const { statusCode, message, cause } = await exceptionOf(call)
    expect(statusCode).toBe(400)
    expect(message).toMatch(/^params\.id /)
    const faults = cause as { field: string; message: string }[]
    expect([...new Set(faults.map(({ field }) => field))]).toEqual(['params.id', 'body.email', 'body.profile.age'])
    for (const fault of faults) expect(fault.message).toMatch(/\w/)
  })

  it('gets its exception for a notification type there is not, where that is strict', async () => {
    const { apiRoot } = await apiRootOf(strict)
    const query = { notify: 'pigeon' as 'email' }
    const call = UserRPC.updateUser({ params: { id: ID }, query, body: USER, apiRoot })
    if (!strict) expect(await call).toMatchObject({ success: true, notify: 'pigeon' })
    else
      expect(await exceptionOf(call)).toMatchObject({ statusCode: 400, message: /^query\.notify .*email, push, none/ })
  })

  it('streams all tokens', async () => {
    const { url, apiRoot } = await apiRootOf(strict)
    const [messages, text] = await Promise.all([collect(apiRoot), requestFrom(url, '/api/streams/tokens')])
    const lines = String(text.body).trimEnd().split('\n')
    expect(messages).toEqual(lines.map(line => JSON.parse(line).message))
    expect(messages.length).toBeGreaterThan(5)
  })

  it('leaves the stream early, and the answer ends there', async () => {
    const requests: LoggedRequest[] = []
    const { apiRoot } = await apiRootOf(strict, requests)
    const stream = await StreamRPC.streamTokens({ apiRoot })
    for await (const { message } of stream) {
      expect(message).toMatch(/\w/)
      break
    }
    stream.abortSilently()
    await until(() => requests.length > 0, 1_000)
    const [{ url, status, bytes }] = requests
    expect([url, status]).toEqual(['/api/streams/tokens', 200])
    // The whole text has over a dozen lines of this length, in 3 s.
    expect(bytes).toBeLessThan(600)
  })

  it('gets the description', async () => {
    const { url, apiRoot } = await apiRootOf(strict)
    const spec = await OpenApiRPC.getSpec({ apiRoot })
    expect(spec).toEqual(JSON.parse(String((await requestFrom(url, '/api/static/openapi.json')).body)))
    expect(spec.info.version).toBe('0.0.88')
  })
})

async function collect(apiRoot: string): Promise<string[]> {
  const messages: string[] = []
  for await (const { message } of await StreamRPC.streamTokens({ apiRoot })) messages.push(message)
  return messages
}
