import type { IncomingMessage } from 'node:http'
import { type AddressInfo, isIPv4, isIPv6 } from 'node:net'
import { HttpError } from './error.js'

const MAX_PORT = 65_535

/**
 * Checks that the Host of a request names this server, against DNS rebinding: a page of another site whose name resolves
 * to this machine sends that name. IP addresses and loopback names cannot be rebound.
 */
export class HostCheck {
  private readonly names: ReadonlySet<string>
  /** The Host of the last valid request: most clients send the same one again. */
  private lastValid: string | undefined

  /** `host`: the name or address that the server listens on. */
  constructor(host: string) {
    this.names = new Set(['localhost', withoutDot(host.toLowerCase())])
  }

  /**
   * 400 for a missing, duplicate or malformed Host (RFC 9112, 3.2), 421 for one that is not this server's, else undefined.
   * The host of a target in absolute form has to be this server's too.
   */
  check({ url = '', headers: { host }, rawHeaders, httpVersion }: IncomingMessage): HttpError | undefined {
    // Node keeps only the first of two.
    if (hostCount(rawHeaders) > 1) return new HttpError(400, 'There is more than one Host header.')
    if (url.startsWith('/') && host !== undefined && host === this.lastValid) return undefined
    const authority = targetHost(url)
    // HTTP/1.0 has no Host; no browser speaks it.
    const isExempt = host === undefined && httpVersion === '1.0'
    const error =
      (authority === undefined ? undefined : this.checkHost(authority)) ?? (isExempt ? undefined : this.checkHost(host))
    if (!error) this.lastValid = host
    return error
  }

  private checkHost(host: string | undefined): HttpError | undefined {
    const [, name, port] =
      /^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.?)(?::(\d{0,5}))?$/.exec(host ?? '') ?? []
    if (name === undefined || Number(port ?? 0) > MAX_PORT) {
      return new HttpError(400, 'The Host header is missing or no host.')
    }
    if (this.isOurs(withoutDot(name.toLowerCase()))) return undefined
    return new HttpError(421, 'This server does not answer for that host; use its address, or localhost.')
  }

  private isOurs(name: string): boolean {
    if (this.names.has(name) || name.endsWith('.localhost')) return true
    return name.startsWith('[') ? isIPv6(name.slice(1, -1)) : isIPv4(name)
  }
}

/** The host in a request target of absolute form (RFC 9112, 3.2.2), with its port. */
function targetHost(url: string): string | undefined {
  return url.startsWith('/') ? undefined : /^\w+:\/\/([^/?#]*)/.exec(url)?.[1]
}

/** The number of Host fields; raw headers alternate names and values. */
function hostCount(rawHeaders: readonly string[]): number {
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
export function addressUrl({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}

/**
 * The base address that a request was sent to, without a slash at its end: the host of its target or its Host (RFC 9112, 3.3),
 * which `HostCheck` has found valid, else (HTTP/1.0) the address of the connection.
 */
export function requestBaseUrl({ url = '', headers, socket }: IncomingMessage): string {
  const host = targetHost(url) ?? headers.host
  return host === undefined ? addressUrl(socket.address() as AddressInfo) : `http://${host.replace(/:$/, '')}`
}
