import type { Server } from 'node:net'
import { afterAll } from 'vitest'
import { listen } from '../../support/servers/listen.js'

/** Returns a function that makes a server listen on a free port of the loopback and resolves to the port. Closes all after the file's tests. */
export function useListening(): (server: Server) => Promise<number> {
  const servers: Server[] = []
  afterAll(() => {
    for (const server of servers) server.close()
  })
  return async server => {
    servers.push(server)
    return listen(server)
  }
}
