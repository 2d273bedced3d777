import { join } from 'node:path'
import { SAMPLE } from '../../candles/base-url.js'
import { seriesPath } from '../../candles/paths.js'
import { formatBytes, plural } from '../../candles/text.js'
import { formatValue, type Setting } from '../../cli/config.js'
import { baseUrl, mirror, sample, seriesName, sourceNote } from '../../cli/fields.js'
import type { Field } from '../../cli/report.js'
import * as s from '../../cli/report.js'
import type { Served } from '../../cli/serving.js'
import { cleanValue } from '../../greeting/error-body.js'
import type { UserUpdateResult } from '../../greeting/schemas.js'
import type { PublishReport } from '../../mirror/publish.js'
import { indexPath } from '../../mirror/series-index.js'
import type { MirrorStatus } from '../../mirror/user-mirrors.js'
import type { Serving } from '../../server/server.js'

interface Mirrors extends MirrorStatus {
  readonly others: readonly MirrorStatus[]
}

const size = { ...s.column('size', s.count()), show: formatBytes }

const series = {
  ...seriesName,
  windows: s.column('windows', s.count()),
  empty: s.column('empty', s.count('windows without candles')),
  firstOpenTime: s.column('first candle', s.optional({ ...s.day(), schema: s.integer().schema })),
  lastOpenTime: s.column('last (UTC)', s.optional({ ...s.time(), schema: s.integer().schema })),
  cachedBytes: size,
}

const other = {
  root: s.derived(s.text('its folder'), ({ mirror }: MirrorStatus) => mirror),
  baseUrl,
  symbols: s.column('symbols', s.count(), ({ series }: MirrorStatus) => new Set(series.map(one => one.symbol)).size),
  series: s.derived(s.count(), ({ series }: MirrorStatus) => series.length),
  windows: s.count(),
  cachedBytes: size,
  newest: s.column('newest candle (UTC)', s.time(), ({ series }: MirrorStatus) => {
    return series.flatMap(({ lastOpenTime }) => lastOpenTime ?? []).sort((a, b) => b - a)[0]
  }),
}

export const MirrorReport = s.report(
  'klines-mirror',
  {
    mirror,
    baseUrl,
    windows: s.count(),
    cachedBytes: s.count(),
    series: s.list(s.object(series)),
    others: s.list(s.object(other), 'the other mirrors in the cache folder'),
  },
  ({ others, mirror, baseUrl = 'an unknown address', windows, cachedBytes, series: all }: Mirrors) => {
    const total = `${plural(windows, 'window')} of ${all.length} series, ${formatBytes(cachedBytes)}, from ${baseUrl}`
    const lines = [s.textOf(series, all, 2), '', total, `Mirror: ${mirror}`, ...sourceNote(baseUrl)]
    if (all.length > 0) {
      const paths = [seriesPath(all[0]), indexPath(all[0])].map(path => join(mirror, path)).join(' and ')
      lines.push(`To remove a series, remove its folder and its index: ${paths}`)
    }
    const name = s.column('other mirrors', s.text(), ({ baseUrl = 'unknown' }: MirrorStatus) => baseUrl)
    const folder = s.column('folder', s.text(), ({ mirror }: MirrorStatus) => mirror)
    if (others.length > 0) lines.push('', s.textOf({ name, ...other, folder }, others))
    return lines.join('\n')
  },
)

const treeOf = ({ mirror }: PublishReport) => join(mirror, 'api')

export const MirrorPublish = s.report(
  'klines-mirror-publish',
  {
    mirror,
    baseUrl: s.text('base address that the candles come from'),
    tree: s.derived(s.text('folder to serve as /api'), treeOf),
    symbols: s.list(s.text()),
    intervals: s.list(s.text()),
    windows: s.count('windows in the tree, empty ones too'),
    emptyWritten: s.count('empty windows that were written'),
    listsWritten: s.count('lists that were written'),
  },
  (result: PublishReport) => {
    const { symbols, intervals, windows, emptyWritten, listsWritten } = result
    const contents = [plural(symbols.length, 'symbol'), plural(intervals.length, 'interval'), plural(windows, 'window')]
    const written = [plural(emptyWritten, 'empty window'), plural(listsWritten, 'list')]
    return `The tree is complete: ${contents.join(', ')}. Written: ${written.join(', ')}.
Any static host can serve it: upload ${treeOf(result)} as the folder api of its address.`
  },
)

const single = [{ type: 'string' }, { type: 'number' }]
const value: Field<Setting['value']> = {
  schema: { anyOf: [...single, { type: 'boolean' }, { type: 'array', items: { anyOf: single } }] },
}
const key = s.column('key', s.text('the long name of a flag'))

export const Config = s.report(
  'klines-config',
  {
    values: s.list(
      s.object({
        key,
        // Only an address holds a password, and it is one text.
        value: s.derived(value, ({ key, value }: Setting) => (key === 'base-url' ? formatValue(key, value) : value)),
        origin: s.oneOf(['environment', 'user']),
        source: s.text('the variable or the file'),
        overridden: s.flag('whether a variable overrides it'),
      }),
      'by key, the strongest first',
    ),
    path: s.maybe(s.text(), 'your config file, which may be missing'),
  },
  ({ values, path }: { readonly values: readonly Setting[]; readonly path: string | undefined }) => {
    const file = path === undefined ? [] : [`Your config file: ${path}`]
    if (values.length === 0)
      return ['No defaults are set.', ...file, 'klines config set KEY VALUE sets one.'].join('\n')
    const shown = s.column('value', s.text(), ({ key, value }: Setting) => formatValue(key, value))
    const from = s.column('from', s.text(), (one: Setting) => one.source + (one.overridden ? ' (overridden)' : ''))
    return s.textOf({ key, shown, from }, values)
  },
)

const file = { path: s.text('the config file'), key: s.text() }

export const ConfigSet = s.report(
  'klines-config-set',
  { ...file, value },
  ({ path, key, value }: Pick<Setting, 'key' | 'value'> & { readonly path: string }) => {
    return `Set ${key} to ${formatValue(key, value)} in ${path}.`
  },
)

export const ConfigUnset = s.report('klines-config-unset', file, ({ path, key }: { path: string; key: string }) => {
  return `Removed ${key} from ${path}.`
})

export const Serve = s.report(
  'klines-serve',
  {
    url: s.text('address of the server'),
    baseUrl,
    sample,
    mirror,
    upstream: s.maybe(s.text(), 'the service that missing windows are fetched from; null without one'),
  },
  ({ url, otherUrls, mirror, baseUrl, upstream }: Served & Pick<Serving, 'url' | 'otherUrls'>, { quiet }) => {
    const lines = [url]
    if (quiet) return url
    if (baseUrl !== SAMPLE) lines.push(`Serving ${mirror}${baseUrl === undefined ? '' : `, a mirror of ${baseUrl}`}.`)
    else
      lines.push(
        'Serving synthetic sample data, not prices of any exchange.',
        'klines download creates a mirror of real candles; --upstream downloads them on request.',
      )
    if (upstream !== undefined) lines.push('Missing and open windows are downloaded from there on request.')
    if (otherUrls.length > 0) lines.push(`Other machines reach it at ${otherUrls.join(', ')}.`)
    lines.push(`Open ${url}/ in a browser for charts, downloads and the API. Press Ctrl-C to stop.`)
    return lines.join('\n')
  },
)

export const Completion = s.report(
  'klines-completion',
  { shell: s.oneOf(['bash', 'zsh', 'fish']), script: s.text() },
  ({ script }: { readonly shell: string; readonly script: string }) => script,
)

/** `users update`: the answer of the server, which may say more. */
export const UsersUpdate: s.Report<UserUpdateResult> = {
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
