import type { IncomingMessage } from 'node:http'
import { type AddressInfo, isIP, isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { KlinesError } from '../candles/errors.js'
import { HttpError } from './errors.js'

const MAX_URL_LENGTH = 4 * 1024
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.?)(?::(\d{0,5}))?$/

/**
 * Returns the check of the head of a request: the error that it gets. On the loopback its Host has to be a name of the loopback, one of
 * `allowHost`, or an IP address: a page of another site whose name resolves to this machine sends that name (DNS rebinding), and addresses
 * cannot be rebound. A server on another address (`host`) answers for any name. Throws `bad_option` for an `allowHost` that is no name.
 */
export function requestCheck({ host, allowHost = [] }: { host: string; allowHost?: readonly string[] | undefined }) {
  const own = plainName(host)
  const isLoopback = isLocal(own) || isLoopbackAddress(own)
  // A comma at the end of a list is no name.
  const given = allowHost.filter(text => text.trim() !== '')
  const allowed = (given.length > 0 ? given : allowHost).map(text => parseHost(text.trim()) ?? refuseHost(text))
  const names = isLoopback && allowed
  return ({ url = '', headers, rawHeaders, httpVersion }: IncomingMessage): HttpError | undefined => {
    // Node keeps only the first of two.
    const isHost = (text: string, at: number) => at % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host'
    if (rawHeaders.filter(isHost).length > 1) return new HttpError(400, 'There is more than one Host header.')
    // HTTP/1.0 has no Host; no browser speaks it.
    const isExempt = headers.host === undefined && httpVersion === '1.0'
    const error = isExempt ? undefined : checkHost(headers.host, names)
    if (error) return error
    if (url.length > MAX_URL_LENGTH) return new HttpError(414)
    // No server for proxies: a target is a path, without a fragment (RFC 9112, 3.2).
    const isPath = url.startsWith('/') && !url.includes('#')
    return isPath ? undefined : new HttpError(400, 'The request target is not valid: expected a path.')
  }
}

function refuseHost(text: string): never {
  const expected = 'Expected a whole name in ASCII, such as candles.example.com, without a scheme, a path or *.'
  throw new KlinesError('bad_option', `--allow-host is "${text}". ${expected}`)
}

/** The name in a Host header, without its port; undefined for what is none. */
function parseHost(host: string): string | undefined {
  const [, name, port = 0] = HOST.exec(host) ?? []
  return name === undefined || Number(port) > 65_535 ? undefined : plainName(name)
}

/** `names`: the allowed ones besides those of the loopback; false for any. */
function checkHost(host = '', names: readonly string[] | false): HttpError | undefined {
  const plain = parseHost(host)
  if (plain === undefined) return new HttpError(400, 'The Host header is missing or no host.')
  const isIp = plain.startsWith('[') ? isIPv6(plain.slice(1, -1)) : isIPv4(plain)
  if (!names || isIp || isLocal(plain) || names.includes(plain)) return undefined
  const door = `start it with klines serve --allow-host ${plain}`
  return new HttpError(421, `This server does not answer for that host; use its address, or localhost, or ${door}.`)
}

function isLocal(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

function addressUrl({ address, family, port }: Pick<AddressInfo, 'address' | 'family' | 'port'>): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}

/** Who sent a request, as an IP address: what a proxy on this machine says of it, else the other end of the connection. */
export function clientAddress({ headers, socket }: IncomingMessage): string {
  // A server that listens on :: has the addresses of IPv4 in those of IPv6.
  const peer = (socket.remoteAddress ?? '-').replace(/^::ffff:(?=[\d.]+$)/, '')
  // The last one is that which the proxy itself has seen; those before it are what its client claims.
  const forwarded = String(headers['x-forwarded-for']).split(',').at(-1)?.trim() ?? ''
  return isLoopbackAddress(peer) && isIP(forwarded) > 0 ? forwarded : peer
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'))
}

/** The base address of a server that listens; `otherUrls`: those for other machines, if it listens on all addresses of this one. */
export function serverUrls(server: AddressInfo): { readonly url: string; readonly otherUrls: readonly string[] } {
  const { address, port } = server
  if (address !== '0.0.0.0' && address !== '::') return { url: addressUrl(server), otherUrls: [] }
  const others = Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ internal, family, scopeid }) => !internal && !scopeid && (family === 'IPv4' || address === '::'))
  return { url: `http://127.0.0.1:${port}`, otherUrls: others.map(one => addressUrl({ ...one, port })) }
}

/** The base address that a request was sent to: its Host, else (HTTP/1.0) that of the connection. */
export function requestBaseUrl({ headers: { host }, socket }: IncomingMessage): string {
  return host === undefined ? addressUrl(socket.address() as AddressInfo) : `http://${host.replace(/:$/, '')}`
}

/**
 * Whether a page of another site made a browser send this request, also by a link: it must not make this server send requests of its own.
 * Pages of other programs on this machine are `same-site`; programs other than browsers send no such field.
 */
export function isFromOtherSite({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'cross-site'
}
