import { isExchange, SAMPLE, toAddress } from '../../http/base-url.js'
import type { Mirror } from '../../mirror/mirror.js'

/** Where the candles of a mirror come from. */
export interface MirrorSourceFacts {
  readonly kind: 'sample' | 'service' | 'exchange' | 'unknown'
  /** The base address of a service or an exchange. */
  readonly address: string | undefined
}

/** The source of a mirror. Only an address is shown: anything may be in `mirror.json`. */
export function describeSource({ baseUrl }: Mirror): MirrorSourceFacts {
  if (baseUrl === SAMPLE) return { kind: 'sample', address: undefined }
  const address = toAddress(baseUrl ?? '')
  if (!/^https?:\/\//.test(address)) return { kind: 'unknown', address: undefined }
  return { kind: isExchange(baseUrl) ? 'exchange' : 'service', address }
}
