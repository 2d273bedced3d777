import { createServer } from 'node:net'
import { listen } from './listen.js'

/** A loopback port on which no server listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}
