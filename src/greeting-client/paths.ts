import { KlinesError } from '../klines/errors.js'

/** Paths of the greeting API, relative to a base address (service.md, endpoints 8 to 10). */
export const TOKENS_PATH = 'api/streams/tokens'
export const GREETING_SPEC_PATH = 'api/static/openapi.json'
/** The klines service's own description, beside its tree. */
export const KLINES_SPEC_PATH = 'api/openapi.json'

/**
 * Where a user is updated. Any text can be an id, %-encoded as UTF-8, but for those that a path cannot carry: none, `.`
 * and `..`, which mean other paths also when encoded, and halves of characters. Throws `bad_option`.
 */
export function userPath(id: string, notify: string | undefined): string {
  const segment = encode('user id', id)
  if (/^\.{0,2}$/.test(segment)) {
    throw new KlinesError('bad_option', `The user id is "${id}". Expected an identifier, such as a UUID.`)
  }
  return `api/users/${segment}${notify === undefined ? '' : `?notify=${encode('notification type', notify)}`}`
}

function encode(what: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    const message = `The ${what} has half a character (a lone surrogate). Expected whole text.`
    throw new KlinesError('bad_option', message, { cause })
  }
}
