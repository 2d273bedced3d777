import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { targetHost } from './host-check.js'

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
