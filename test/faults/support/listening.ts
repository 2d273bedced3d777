import type { AddressInfo, Server } from 'node:net'
import { afterAll } from 'vitest'

/** Makes servers listen on free ports of the loopback for the tests of one file; all are closed when they are over. */
export function useListening(): (server: Server) => Promise<number> {
  const servers: Server[] = []
  afterAll(() => {
    for (const server of servers) server.close()
  })
  return async server => {
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }
}
