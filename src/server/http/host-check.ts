import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { HttpError } from './error.js'

const MAX_PORT = 65_535

/**
 * Whether a request may be for us, by the Host it names. A page of another site whose name was pointed at this machine
 * (DNS rebinding) carries that name; an address that is a number, or a name of this machine's loopback, cannot be one.
 */
export class HostCheck {
  private readonly names: ReadonlySet<string>
  /** The Host of the last request that was good: most clients are one. */
  private good: string | undefined

  /** `host`: what the server listens on. */
  constructor(host: string) {
    this.names = new Set(['localhost', withoutDot(host.toLowerCase())])
  }

  /**
   * 400 for a Host that is missing, doubled or not one (RFC 9112, 3.2), 421 for one that is not ours, else undefined.
   * A target that is a whole URL says the host itself, and has to be ours too.
   */
  check({ url = '', headers: { host }, rawHeaders, httpVersion }: IncomingMessage): HttpError | undefined {
    // Node has the first of two alone.
    if (hostCount(rawHeaders) > 1) return new HttpError(400, 'There is more than one Host header.')
    const isPath = url.startsWith('/')
    if (isPath && host !== undefined && host === this.good) return undefined
    const [, authority] = isPath ? [] : (/^\w+:\/\/([^/?#]*)/.exec(url) ?? [])
    // HTTP/1.0 has no Host; no browser speaks it.
    const isExempt = host === undefined && httpVersion === '1.0'
    const refusal =
      (authority === undefined ? undefined : this.checkHost(authority)) ?? (isExempt ? undefined : this.checkHost(host))
    if (!refusal) this.good = host
    return refusal
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

/** Names and values take turns in raw headers. */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index].length === 4 && rawHeaders[index].toLowerCase() === 'host') count++
  }
  return count
}

/** A name may be written with the root's dot at its end. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}
