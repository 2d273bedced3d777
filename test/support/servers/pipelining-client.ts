import { RawClient, type RawResponse } from './raw-client.js'

/** Number of requests sent at once over one connection. */
const DEPTH = 50

/**
 * Pipelines requests over a few connections and passes each response to `onResponse`. When the server ends a connection
 * after a response, the remaining requests go over a new one.
 */
export async function sendPipelined(
  url: string,
  requests: readonly Buffer[],
  onResponse: (response: RawResponse, request: Buffer) => void,
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
      const answered = await readResponses(client, rest, onResponse)
      client.close()
      rest = rest.slice(answered)
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
}

/** Reads responses until one announces the end of the connection; returns their number. */
async function readResponses(
  client: RawClient,
  requests: readonly Buffer[],
  onResponse: (response: RawResponse, request: Buffer) => void,
): Promise<number> {
  for (const [index, request] of requests.entries()) {
    const response = await client.next({ head: request.subarray(0, 5).toString() === 'HEAD ' })
    onResponse(response, request)
    if (response.headers.connection === 'close') return index + 1
  }
  return requests.length
}
