import { isIP } from 'node:net'
import { HttpError } from './http-error.js'

/**
 * Whether a request may be for us, by the Host it names. A page of another site whose name was pointed at this machine
 * (DNS rebinding) carries that name; an address that is a number, or a name of this machine's loopback, cannot be one.
 */
export class HostCheck {
  private readonly names: ReadonlySet<string>

  /** `host`: what the server listens on. */
  constructor(host: string) {
    this.names = new Set(['localhost', host.toLowerCase()])
  }

  /**
   * Throws 400 for a Host that is missing or not one (RFC 9112, 3.2), 421 for one that is not ours. A target that is a whole
   * URL says the host itself, and has to be ours too.
   */
  check(target: string, host: string | undefined, httpVersion: string): void {
    const [, authority] = /^\w+:\/\/([^/?#]*)/.exec(target) ?? []
    if (authority !== undefined) this.checkHost(authority)
    // HTTP/1.0 has no Host; no browser speaks it.
    if (host !== undefined || httpVersion !== '1.0') this.checkHost(host)
  }

  private checkHost(host: string | undefined): void {
    const [, name] = /^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(?::\d{1,5})?$/.exec(host ?? '') ?? []
    if (name === undefined) throw new HttpError(400, 'The Host header is missing or no host.')
    if (!this.isOurs(name.toLowerCase().replace(/\.$/, ''))) {
      throw new HttpError(421, 'This server does not answer for that host; use its address, or localhost.')
    }
  }

  private isOurs(name: string): boolean {
    if (this.names.has(name) || name.endsWith('.localhost')) return true
    return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}
