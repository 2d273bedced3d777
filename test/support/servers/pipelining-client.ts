import { RawClient, type RawResponse } from './raw-client.js'

/** Requests that go out at once over one connection. */
const DEPTH = 50

/**
 * Sends requests over a few connections, many at a time, and gives each answer to `look`. Where the server ends a
 * connection after an answer, the requests behind that one go over another.
 */
export async function sendPipelined(
  url: string,
  requests: readonly Buffer[],
  look: (answer: RawResponse, request: Buffer) => void,
  connections = 8,
): Promise<void> {
  const queue = [...requests]
  const work = async () => {
    for (let batch = queue.splice(0, DEPTH); batch.length > 0; batch = queue.splice(0, DEPTH)) await send(batch)
  }
  const send = async (batch: readonly Buffer[]) => {
    for (let rest = batch; rest.length > 0; ) {
      const client = await RawClient.open(url)
      client.send(Buffer.concat(rest))
      const answered = await answers(client, rest, look)
      client.close()
      rest = rest.slice(answered)
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
}

/** Takes answers until one says that it is the last; how many there were. */
async function answers(
  client: RawClient,
  requests: readonly Buffer[],
  look: (answer: RawResponse, request: Buffer) => void,
): Promise<number> {
  for (const [index, request] of requests.entries()) {
    const answer = await client.next({ head: request.subarray(0, 5).toString() === 'HEAD ' })
    look(answer, request)
    if (answer.headers.connection === 'close') return index + 1
  }
  return requests.length
}
