import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { HttpTransport } from '../../src/http/transport.js'
import { errorOf } from '../support/errors.js'
import { RawServer } from '../support/servers/raw-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']
const PATH = 'api/klines/symbols.json'
const before = new Map(NAMES.map(name => [name, process.env[name]]))

beforeEach(() => {
  for (const name of NAMES) delete process.env[name]
})
afterEach(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
})

/** A proxy that opens tunnels to where it is told; its heads say where that was. */
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

async function servers() {
  const server = await TreeServer.start(tempFolder())
  server.always(PATH, { body: '[]' })
  return { server, proxy: await startProxy() }
}

async function get(url: string, direct = false): Promise<string> {
  const transport = new HttpTransport(url, { connections: 2, direct })
  onTestFinished(() => transport.close())
  return (await transport.get(PATH, { signal: new AbortController().signal })).body.toString()
}

describe('a proxy', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('in %s carries the requests', async name => {
    const { server, proxy } = await servers()
    process.env[name] = proxy.url
    expect(await get(server.url)).toBe('[]')
    expect(proxy.heads).toHaveLength(1)
    expect(proxy.heads[0]).toContain(new URL(server.url).host)
  })

  it.each(['127.0.0.1', '*'])('is passed by for hosts in NO_PROXY (%s)', async hosts => {
    const { server, proxy } = await servers()
    process.env.HTTP_PROXY = proxy.url
    process.env.NO_PROXY = hosts
    expect(await get(server.url)).toBe('[]')
    expect(proxy.heads).toEqual([])
  })

  it('is passed by when direct, as for the server in this process', async () => {
    const { server, proxy } = await servers()
    process.env.HTTP_PROXY = proxy.url
    expect(await get(server.url, true)).toBe('[]')
    expect(proxy.heads).toEqual([])
  })

  it('that is not there is a connection fault', async () => {
    const { server, proxy } = await servers()
    process.env.HTTP_PROXY = proxy.url
    await proxy.stop()
    expect(await errorOf(get(server.url))).toMatchObject({ kind: 'transient', unreachable: true })
    expect(server.log).toEqual([])
  })
})
