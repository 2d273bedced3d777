import { baseUrl, mirror, sample } from '../../cli/fields.js'
import { maybe, oneOf, type Report, report, text } from '../../cli/report.js'
import type { Served } from '../../cli/serving.js'
import type { UserUpdateResult } from '../../greeting/schemas.js'
import { SAMPLE } from '../../sources/base-url.js'
import { cleanValue } from '../../sources/fetch-error.js'

interface Serving extends Served {
  readonly url: string
  readonly otherUrls: readonly string[]
}

export const Serve = report(
  'klines-serve',
  {
    url: text('address of the server'),
    baseUrl,
    sample,
    mirror,
    upstream: maybe(text(), 'the service that missing windows are fetched from; null without one'),
  },
  ({ url, otherUrls, mirror, baseUrl, upstream, isBundled }: Serving, { quiet }) => {
    const lines = [url]
    if (quiet) return url
    if (baseUrl === SAMPLE) lines.push('Serving synthetic sample data, not prices of any exchange.')
    else lines.push(`Serving ${mirror}${baseUrl === undefined ? '' : `, a mirror of ${baseUrl}`}.`)
    if (isBundled) lines.push('klines download creates a mirror of real candles; --upstream downloads them on request.')
    if (upstream !== undefined) lines.push('Missing and open windows are downloaded from there on request.')
    if (otherUrls.length > 0) lines.push(`Other machines reach it at ${otherUrls.join(', ')}.`)
    lines.push(`Open ${url}/ in a browser for charts, downloads and the API. Press Ctrl-C to stop.`)
    return lines.join('\n')
  },
)

export const Completion = report(
  'klines-completion',
  { shell: oneOf(['bash', 'zsh', 'fish']), script: text() },
  ({ script }: { readonly shell: string; readonly script: string }) => script,
)

/** `users update`: the answer of the server, which may say more. */
export const UsersUpdate: Report<UserUpdateResult> = {
  schema: {
    $id: 'klines-users-update',
    type: 'object',
    required: ['success', 'id', 'notify', 'warnings'],
    properties: {
      success: { type: 'boolean', description: 'never false: a refusal is an error' },
      id: { type: 'string' },
      notify: { type: 'string' },
      warnings: { type: 'array', items: { type: 'string' } },
    },
  },
  json: answer => answer,
  text: ({ id, notify }) => `Updated user ${cleanValue(id)}, notification ${cleanValue(notify)}.`,
}
