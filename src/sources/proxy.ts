import querystring from 'node:querystring'
import { hideCredentials } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'

/** A proxy that the environment names, without the user name and password, which `token` has as a `Proxy-Authorization` header. */
export interface HttpProxy {
  readonly variable: string
  readonly uri: string
  readonly token?: string
}

/** The proxy for an address; undefined without one. Throws `bad_option` for a value that names none. */
export function findProxy(address: string, env = process.env): HttpProxy | undefined {
  const url = new URL(address)
  const names = ['http_proxy', 'HTTP_PROXY']
  if (url.protocol === 'https:') names.unshift('https_proxy', 'HTTPS_PROXY')
  const variable = names.find(name => env[name] !== undefined) ?? ''
  const value = env[variable]?.trim()
  if (!value || isExcepted(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined
  // As for curl, a host and a port are enough.
  const text = /^[^/]+:\d+\/?$/.test(value) ? `http://${value}` : value
  const proxy = URL.canParse(text) ? new URL(text) : undefined
  if (!proxy || !/^https?:$/.test(proxy.protocol) || proxy.pathname + proxy.search + proxy.hash !== '/') {
    const message = `${variable} is "${hideCredentials(value)}". Expected the address of an HTTP proxy`
    const suggestions = [`Without a proxy: unset ${variable}, or name ${url.hostname} in NO_PROXY.`]
    throw new KlinesError('bad_option', `${message}, such as http://127.0.0.1:3128.`, { suggestions })
  }
  // A user name or password may have a percent sign of its own.
  const login = `${querystring.unescape(proxy.username)}:${querystring.unescape(proxy.password)}`
  const token = login === ':' ? {} : { token: `Basic ${Buffer.from(login).toString('base64')}` }
  return { variable, uri: proxy.origin, ...token }
}

function isExcepted({ hostname, protocol, port }: URL, list: string): boolean {
  const host = `.${hostname}`
  const hosts = [host, `${host}:${port || (protocol === 'https:' ? 443 : 80)}`, host.replace(/[[\]]/g, '')]
  const entries = list.toLowerCase().split(/[,\s]+/)
  return entries.some(
    entry => entry === '*' || (entry && hosts.some(end => end.endsWith(entry.replace(/^\*?\.?/, '.')))),
  )
}
