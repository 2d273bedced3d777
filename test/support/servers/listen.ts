import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errnoCode } from '../../../src/fs/errno.js'

/**
 * Listens on a loopback port and returns it: `port`, or one that no server of this run has had. The system gives the port of a stopped
 * server to the next one, perhaps of another worker, which would answer where nothing should.
 */
export async function listen(server: Server, port = 0): Promise<number> {
  for (;;) {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    const found = (server.address() as AddressInfo).port
    if (port !== 0 || takePort(found)) return found
    server.close()
    await once(server, 'close')
  }
}

/** Whether no server of this run has had a port: each leaves a file in the folder that all workers share. */
function takePort(port: number): boolean {
  const folder = join(tmpdir(), 'ports')
  mkdirSync(folder, { recursive: true })
  try {
    writeFileSync(join(folder, String(port)), '', { flag: 'wx' })
    return true
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false
    throw error
  }
}
