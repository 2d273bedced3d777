import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { HttpTransport } from '../../src/sources/transport.js'
import { catchError } from '../support/errors.js'
import { RawServer } from '../support/servers/raw-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']
const PATH = 'api/klines/symbols.json'
const originalValues = new Map(NAMES.map(name => [name, process.env[name]]))

beforeEach(() => {
  for (const name of NAMES) delete process.env[name]
})
afterEach(() => {
  for (const [name, value] of originalValues) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
})

/** A proxy that opens tunnels; its `heads` record where to. */
function startProxy(): Promise<RawServer> {
  return RawServer.start((socket, head) => {
    const [, host, port] = /^CONNECT ([^:]+):(\d+) /.exec(head) ?? []
    if (host === undefined) {
      socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n')
      return
    }
    const upstream = connect(Number(port), host, () => {
      socket.removeAllListeners('data')
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  })
}

async function startServers() {
  const server = await TreeServer.start(tempFolder())
  server.always(PATH, { body: '[]' })
  return { server, proxy: await startProxy() }
}

async function get(url: string): Promise<string> {
  const transport = new HttpTransport(url, { connections: 2 })
  onTestFinished(() => transport.close())
  return (await transport.get(PATH, { signal: new AbortController().signal })).body.toString()
}

describe('a proxy', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('from %s carries the requests', async name => {
    const { server, proxy } = await startServers()
    process.env[name] = proxy.url
    expect(await get(server.url)).toBe('[]')
    expect(proxy.heads).toHaveLength(1)
    expect(proxy.heads[0]).toContain(new URL(server.url).host)
  })

  it.each(['127.0.0.1', '*'])('is not used for hosts in NO_PROXY (%s)', async hosts => {
    const { server, proxy } = await startServers()
    process.env.HTTP_PROXY = proxy.url
    process.env.NO_PROXY = hosts
    expect(await get(server.url)).toBe('[]')
    expect(proxy.heads).toEqual([])
  })

  it('that does not answer is a connection fault', async () => {
    const { server, proxy } = await startServers()
    process.env.HTTP_PROXY = proxy.url
    await proxy.stop()
    expect(await catchError(get(server.url))).toMatchObject({ kind: 'transient', unreachable: true })
    expect(server.log).toEqual([])
  })
})
