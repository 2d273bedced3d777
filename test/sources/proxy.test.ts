import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { findProxy } from '../../src/sources/proxy.js'
import { HttpTransport } from '../../src/sources/transport.js'
import { catchError } from '../support/errors.js'
import { RawServer } from '../support/servers/raw-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'
import { thrownBy } from '../support/thrown-by.js'

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

  it.each([
    ['407 Proxy Authentication Required', '', 'permanent', 'status 407, it wants a valid user name and password'],
    ['407 Nope', 'me:s3cret@', 'permanent', 'status 407, it wants a valid user name and password, as in http://user:'],
    ['403 Forbidden', '', 'permanent', 'status 403'],
    ['502 Bad Gateway', '', 'transient', 'status 502'],
  ])('that answers %s is named', async (status, login, kind, words) => {
    const proxy = await RawServer.start(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)
    process.env.HTTP_PROXY = `http://${login}127.0.0.1:${proxy.port}`
    const error = (await catchError(get('http://127.0.0.1:9'))) as Error
    expect(error).toMatchObject({ kind, unreachable: true, advice: expect.stringContaining('Check HTTP_PROXY') })
    expect(error.message).toContain(`the proxy ${proxy.url} of HTTP_PROXY: ${words}`)
    expect(proxy.heads[0].includes(`Basic ${Buffer.from('me:s3cret').toString('base64')}`)).toBe(login !== '')
  })
})

describe('the proxy of an address', () => {
  const find = (address: string, env: Record<string, string>) => findProxy(address, env)
  const HTTP = 'http://example.com/klines'

  it.each([
    ['127.0.0.1:3128', 'http://127.0.0.1:3128', undefined],
    [' proxy.corp:80/ ', 'http://proxy.corp', undefined],
    ['me:a%20b@proxy:3128', 'http://proxy:3128', 'me:a b'],
    ['https://me@proxy', 'https://proxy', 'me:'],
    ['http://me:50%@[::1]:8080/', 'http://[::1]:8080', 'me:50%'],
  ])('%j is %s', (value, uri, login) => {
    const token = login === undefined ? {} : { token: `Basic ${Buffer.from(login).toString('base64')}` }
    expect(find(HTTP, { HTTP_PROXY: value })).toEqual({ variable: 'HTTP_PROXY', uri, ...token })
  })

  it.each([
    'garbage',
    'http://',
    'socks5://127.0.0.1:1080',
    'proxy:99999',
    'http://wpad/proxy.pac',
    '"http://p:1"',
    ':3128',
  ])('%j is refused with the name of the variable and an example', value => {
    expect(thrownBy(() => find('https://example.com', { https_proxy: value }))).toMatchObject({
      code: 'bad_option',
      message: `https_proxy is "${value}". Expected the address of an HTTP proxy, such as http://127.0.0.1:3128.`,
      suggestions: ['Without a proxy: unset https_proxy, or name example.com in NO_PROXY.'],
    })
    // A value that this address does not need.
    expect(find(HTTP, { https_proxy: value })).toBeUndefined()
    expect(find(HTTP, { HTTP_PROXY: value, NO_PROXY: 'localhost,example.com' })).toBeUndefined()
  })

  it('never shows a password of a value that is refused', () => {
    expect(String(thrownBy(() => find(HTTP, { HTTP_PROXY: 'ftp://me:s3cret@proxy' })))).not.toContain('s3cret')
  })

  it.each<[string, boolean]>([
    ['', true],
    ['example.com', false],
    ['.com other', false],
    ['*.EXAMPLE.com', false],
    ['example.com:443', true],
    ['a,example.com:80', false],
    ['ample.com', true],
    ['*', false],
  ])('NO_PROXY=%j', (list, isUsed) => {
    const proxy = find(HTTP, { http_proxy: 'http://proxy:1', NO_PROXY: list })
    expect(proxy?.variable).toBe(isUsed ? 'http_proxy' : undefined)
  })

  it('is that of https first, and the lower case before the upper case', () => {
    const env = { HTTP_PROXY: 'a:1', http_proxy: 'b:1', HTTPS_PROXY: 'c:1' }
    expect(find(HTTP, env)?.uri).toBe('http://b:1')
    expect(find('https://example.com', env)?.uri).toBe('http://c:1')
    expect(find('https://example.com', { HTTP_PROXY: 'a:1' })?.uri).toBe('http://a:1')
    expect(find('http://[::1]:8787', { ...env, no_proxy: '::1', NO_PROXY: 'other' })).toBeUndefined()
  })
})
