import { createServer, request } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from './listen.js'

/** A proxy that serves another server below `/candles/` of its own, as `location /candles/` of nginx does; returns that address. */
export async function startPathProxy(target: string): Promise<string> {
  const { hostname, port } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    if (!url.startsWith('/candles/')) return void outgoing.writeHead(404).end()
    const path = url.slice('/candles'.length)
    const sent = request({ hostname, port, path, method, headers: { ...headers, host: '127.0.0.1' } }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    sent.on('error', () => outgoing.destroy())
    incoming.pipe(sent)
  })
  const at = await listen(server, 0)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${at}/candles`
}

/** A proxy that forwards requests for any address to a server, whatever their host; the caller has to close it. */
export async function openForwardProxy(target: string) {
  const { hostname, port } = new URL(target)
  const server = createServer(({ url = '', method, headers }, outgoing) => {
    const { pathname, search } = new URL(url)
    request({ hostname, port, path: pathname + search, method, headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    }).end()
  })
  const at = await listen(server, 0)
  return { url: `http://127.0.0.1:${at}`, close: () => server.close() }
}
