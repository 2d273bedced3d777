import { describe, expect, it } from 'vitest'
import { StreamRPC, UserRPC } from 'vovk-hello-world'
import { until } from '../../support/deferred.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { useServerOver } from '../../support/servers/test-server.js'

const ID = '123e4567-e89b-12d3-a456-426614174000'
/** Ten words that are longer than the head of a response. */
const TEXT = Array(10).fill('word'.repeat(50)).join(' ')
const USER = { email: 'a@example.com', profile: { name: 'Ada', age: 30 } }
/** The error of a rejected call: the client's HttpException, which is not exported. */
async function catchException(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: Error & { statusCode?: number }) => thrown,
  )
  const { statusCode, message, cause } = error ?? {}
  return { statusCode, message, cause }
}

describe.concurrent('the published client of the greeting API', () => {
  const requests: string[] = []
  const log = (line: string) => void requests.push(line)
  const server = useServerOver(() => SAMPLE_TREE, { log, streamText: TEXT })
  const apiRoot = () => `${server.url()}/api`

  it.each(['email', 'push', 'none'] as const)('updates a user, notified by %s', async notify => {
    const result = await UserRPC.updateUser({ params: { id: ID }, query: { notify }, body: USER, apiRoot: apiRoot() })
    expect(result).toEqual({ success: true, id: ID, notify })
  })

  it('throws its exception for an invalid update, with the invalid fields', async () => {
    const body = { email: 'nobody', profile: { name: 'Ada', age: -1 } }
    const call = UserRPC.updateUser({
      params: { id: 'me' },
      query: { notify: 'email' },
      body,
      apiRoot: apiRoot(),
      disableClientValidation: true,
    })
    const { statusCode, message, cause } = await catchException(call)
    expect(statusCode).toBe(400)
    expect(message).toMatch(/^params\.id /)
    const faults = cause as { field: string; message: string }[]
    expect([...new Set(faults.map(({ field }) => field))]).toEqual(['params.id', 'body.email', 'body.profile.age'])
    for (const fault of faults) expect(fault.message).toMatch(/\w/)
  })

  it('streams all tokens', async () => {
    const [messages, text] = await Promise.all([collect(apiRoot()), server.request('/api/streams/tokens')])
    const lines = String(text.body).trimEnd().split('\n')
    expect(messages).toEqual(lines.map(line => JSON.parse(line).message))
    expect(messages.join('')).toBe(TEXT)
  })

  it('leaves the stream early, which ends the response', async () => {
    const stream = await StreamRPC.streamTokens({ apiRoot: apiRoot() })
    for await (const { message } of stream) {
      expect(message).toMatch(/\w/)
      break
    }
    stream.abortSilently()
    const sent = () => requests.map(line => Number(/ GET \/api\/streams\/tokens 200 (\d+) B /.exec(line)?.[1]))
    await until(() => sent().some(size => size < TEXT.length))
  })
})

async function collect(apiRoot: string): Promise<string[]> {
  const messages: string[] = []
  for await (const { message } of await StreamRPC.streamTokens({ apiRoot })) messages.push(message)
  return messages
}
