import type { IncomingMessage } from 'node:http'
import { type AddressInfo, isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { HttpError, plainError } from './errors.js'

const MAX_PORT = 65_535
/** A longer target is refused. */
const MAX_URL_LENGTH = 4 * 1024

/** Which names a server answers for. */
export interface HostOptions {
  /** The name or address that the server listens on. */
  readonly host: string
  /** Further names of a server on the loopback, such as that of a proxy in front of it. */
  readonly allowHost?: readonly string[] | undefined
}

/** Whether only programs of this machine reach a server that listens on a host. */
export function isLoopback(host: string): boolean {
  const name = withoutDot(host.toLowerCase())
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
  )
}

/**
 * Returns the check of the head of a request, whatever its path. Of a server on the loopback, its Host has to be a name of the loopback,
 * an allowed one, or an IP address: a page of another site whose name resolves to this machine sends that name (DNS rebinding), and
 * addresses cannot be rebound. A server on another address answers for any name. The check returns the error that the request gets,
 * and replaces a target in absolute form by its path, whose host is the one that counts (RFC 9112, 3.2.2).
 */
export function requestCheck({
  host,
  allowHost = [],
}: HostOptions): (request: IncomingMessage) => HttpError | undefined {
  const names = isLoopback(host) && new Set(['localhost', ...allowHost.map(name => withoutDot(name.toLowerCase()))])
  /** The Host of the last valid request: most clients send the same one again. */
  let lastValid: string | undefined
  return request => {
    const { url = '', headers, rawHeaders, httpVersion, httpVersionMajor, method } = request
    // Node reads any version from 0.9 to 2.0, each as if it were 1.1.
    if (httpVersionMajor !== 1) return plainError(505)
    // Node keeps only the first of two.
    if (countHosts(rawHeaders) > 1) return new HttpError(400, 'There is more than one Host header.')
    const isPath = url.startsWith('/')
    if (!isPath || headers.host === undefined || headers.host !== lastValid) {
      const authority = isPath ? undefined : /^\w+:\/\/([^/?#]*)/.exec(url)?.[1]
      // HTTP/1.0 has no Host; no browser speaks it.
      const isExempt = headers.host === undefined && httpVersion === '1.0'
      const error =
        (authority === undefined ? undefined : checkHost(authority, names)) ??
        (isExempt ? undefined : checkHost(headers.host, names))
      if (error) return error
      lastValid = headers.host
      if (authority !== undefined) headers.host = authority
    }
    if (url.length > MAX_URL_LENGTH) return plainError(414)
    // RFC 9112, 3.2: a target has no fragment, and the asterisk is for OPTIONS.
    if (url.includes('#') || (url.startsWith('*') && !(url === '*' && method === 'OPTIONS'))) {
      return new HttpError(400, 'The request target is not valid.')
    }
    if (isPath) return undefined
    const [, rest] = /^(?:https?:\/\/[^/?]*|\*)(.*)$/is.exec(url) ?? []
    // An address of another scheme is no path of this server.
    if (rest === undefined) return new HttpError(404, 'There is nothing at this path.')
    request.url = rest.startsWith('/') ? rest : `/${rest}`
    return undefined
  }
}

/** `names`: false for any. */
function checkHost(host: string | undefined, names: ReadonlySet<string> | false): HttpError | undefined {
  const [, name, port] =
    /^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.?)(?::(\d{0,5}))?$/.exec(host ?? '') ?? []
  if (name === undefined || Number(port ?? 0) > MAX_PORT) {
    return new HttpError(400, 'The Host header is missing or no host.')
  }
  const plain = withoutDot(name.toLowerCase())
  if (!names || names.has(plain) || plain.endsWith('.localhost')) return undefined
  if (plain.startsWith('[') ? isIPv6(plain.slice(1, -1)) : isIPv4(plain)) return undefined
  return new HttpError(421, 'This server does not answer for that host; use its address, or localhost.')
}

/** The number of Host fields; raw headers alternate names and values. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index].length === 4 && rawHeaders[index].toLowerCase() === 'host') count++
  }
  return count
}

/** Removes the trailing dot of a fully qualified name. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}

/** The base address of a server that listens on, or was reached at, an address. */
export function addressUrl({ address, family, port }: Pick<AddressInfo, 'address' | 'family' | 'port'>): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}

/** The base addresses of a server for other machines, if it listens on all addresses of this one. */
export function machineUrls({ address, port }: AddressInfo): string[] {
  if (address !== '0.0.0.0' && address !== '::') return []
  const all = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? [])
  const others = all.filter(
    ({ internal, family, scopeid }) => !internal && !scopeid && (family === 'IPv4' || address === '::'),
  )
  return others.map(one => addressUrl({ ...one, port }))
}

/** The base address that a checked request was sent to, without a slash at its end: its Host, else (HTTP/1.0) that of the connection. */
export function requestBaseUrl({ headers: { host }, socket }: IncomingMessage): string {
  return host === undefined ? addressUrl(socket.address() as AddressInfo) : `http://${host.replace(/:$/, '')}`
}

/**
 * Whether a page of another site made a browser send this request (Fetch Metadata, `Sec-Fetch-Site`), also by a link. Such a request
 * must not make this server send requests of its own.
 *
 * `same-site` is no other site: ports do not count, so that it is what pages of other programs on this machine get, such as a
 * notebook at localhost:8888. They could send any request without a browser, too. A page of the internet is always `cross-site`.
 * Programs other than browsers send no such field.
 */
export function isFromOtherSite({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'cross-site'
}
