import { KlinesError } from '../candles/errors.js'

/** Paths of the greeting API, relative to a base address. */
export const TOKENS_PATH = 'api/streams/tokens'
export const GREETING_SPEC_PATH = 'api/static/openapi.json'
/** The OpenAPI description of the klines service. */
export const KLINES_SPEC_PATH = 'api/openapi.json'
/** The OpenAPI description of the exports of a server of this project. */
export const EXPORT_SPEC_PATH = 'export/openapi.json'
/** The paths of the descriptions by API. */
export const API_SPECS = { greeting: GREETING_SPEC_PATH, klines: KLINES_SPEC_PATH, export: EXPORT_SPEC_PATH } as const

/**
 * The path of a user update. Any text can be an id, %-encoded as UTF-8, except an empty one, `.` and `..` (other paths, even
 * when encoded) and a lone surrogate. Throws `bad_option` for these.
 */
export function userPath(id: string, notify: string | undefined): string {
  const segment = encode('user id', id)
  if (/^\.{0,2}$/.test(segment)) {
    throw new KlinesError('bad_option', `The user id is "${id}". Expected an identifier, such as a UUID.`)
  }
  return `api/users/${segment}${notify === undefined ? '' : `?notify=${encode('notification type', notify)}`}`
}

function encode(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    const message = `The ${name} has half a character (a lone surrogate). Expected whole text.`
    throw new KlinesError('bad_option', message, { cause })
  }
}
