import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** A static server of a tree on this machine. */
export interface TreeServer {
  readonly url: string
  /** How many bodies it has sent. */
  bodies(): number
  stop(): void
}

/** Serves a tree as a CDN does: gzip (made once for each file), Last-Modified of the file's time, 304. */
export async function serveTree(root: string): Promise<TreeServer> {
  const compressed = new Map<string, Buffer>()
  let bodies = 0
  const server = createServer(({ url = '', headers }, response) => {
    const stat = statSync(root + url, { throwIfNoEntry: false })
    if (!stat?.isFile()) {
      response.writeHead(404).end()
      return
    }
    const modified = stat.mtime.toUTCString()
    if (headers['if-modified-since'] === modified) {
      response.writeHead(304, { 'last-modified': modified }).end()
      return
    }
    const body = compressed.get(url) ?? gzipSync(readFileSync(root + url))
    compressed.set(url, body)
    bodies++
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': body.length,
      'last-modified': modified,
    })
    response.end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies: () => bodies, stop }
}
