import { BINANCE, PUBLIC_BASE_URL, SAMPLE } from '../http/base-url.js'
import { Mirror } from '../mirror/mirror.js'
import { listUserMirrors } from '../mirror/user-mirrors.js'

/**
 * Whether requests may be sent to a base address that nobody but a file or a lake names, which may be a stranger's: the public instance,
 * the exchange, the sample, and an address of which this user has a mirror. `mirror`: the folder of one that the user names.
 */
export function isKnownSource(source: string, mirror: string | undefined): boolean {
  if ([PUBLIC_BASE_URL, BINANCE, SAMPLE].includes(source)) return true
  if (mirror !== undefined && new Mirror(mirror).baseUrl === source) return true
  return listUserMirrors().some(({ baseUrl }) => baseUrl === source)
}
