import { readFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { isExchange, PUBLIC_BASE_URL, SAMPLE, toAddress } from '../candles/base-url.js'
import { isInterval } from '../candles/intervals.js'
import { windowPath } from '../candles/paths.js'
import { type Series, windowOf } from '../candles/series.js'
import { isSymbol } from '../candles/symbols.js'
import { escapeMarkup, formatBytes, formatCount, formatTime, plural, quoteWord } from '../candles/text.js'
import { findFiner } from '../engine/selection.js'
import { findUserFolder } from '../fs/folders.js'
import { idleSince, knownDates, knownSymbols, type SeriesStatus, seriesStatuses, sumOf } from '../mirror/status.js'
import { defaultMirrorRoot } from '../mirror/user-mirrors.js'
import { ownFile } from '../version.js'
import { Body, type Route, sendBody } from './body.js'
import { HttpError } from './errors.js'
import type { ServedMirror } from './served-mirror.js'
import type { Tree } from './tree.js'

/** On every page of the sample: its prices must never be taken for real ones. */
const SAMPLE_BADGE =
  '<span class="sample" title="Synthetic data: no market ever traded at these prices">Sample data, not prices</span>'

/** Only files of this server, and no inline scripts or styles; Swagger UI's icons are `data:` URLs. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const DOCS_FILES = 'server/docs/assets'
/** The build copies these files of Swagger UI, and bundles the browser code. */
const SWAGGER_FILES = '../dist/swagger-ui'
const VIEWER_FILES = '../dist/server/viewer'

/** The routes of the pages, of what the viewer reads about the mirror, and of scripts, styles and icons. */
export function pageRoutes(tree: Tree): Route[] {
  type Make = (params: Record<string, string>, path: string) => string | Promise<string>
  const own = (url: string, make: Make, type?: string): Route => ({
    method: 'GET',
    url,
    isPrivate: true,
    handler: async (request, reply) => {
      const path = request.url.replace(/\?.*/, '')
      const body = await tree.mirror.kept(path, async () => {
        const text = await make(request.params as Record<string, string>, path)
        return new Body(Buffer.from(text), { type, isPrivate: true })
      })
      return sendBody(request, reply, body, type && SECURITY_HEADERS)
    },
  })
  const page = (url: string, make: Make) => own(url, make, 'text/html; charset=utf-8')
  const file = (folder: string, name: string, files: string): Route => {
    const path = ownFile(`${files}/${name}`)
    let body: Body | undefined
    const handler: Route['handler'] = (request, reply) => {
      body ??= new Body(readFileSync(path), { type: TYPES[extname(name)], isPrivate: true })
      return sendBody(request, reply, body)
    }
    return { method: 'GET', url: `/${folder}/${name}`, isPrivate: true, handler }
  }
  return [
    // For who watches the server: whether it answers. It looks at no file.
    own('/healthz', () => '{"status":"ok"}'),
    own('/coverage.json', async () => JSON.stringify(await findCoverage(tree))),
    own('/coverage/:interval/:file', async ({ interval, file }) => {
      const symbol = file.replace(/\.json$/, '')
      if (!isInterval(interval) || symbol === file || !isSymbol(symbol)) throw new HttpError(404)
      return JSON.stringify(findSeriesCoverage(tree, { symbol, interval }))
    }),
    page('/', () => homePage(tree)),
    page('/reference', () => readPage('reference', tree.mirror)),
    ...['/chart', '/chart/*'].map(url => page(url, (_, path) => chartPage(tree.mirror, path))),
    ...['page.js', 'page.css', 'favicon.svg'].map(name => file('docs', name, DOCS_FILES)),
    ...['swagger-ui-bundle.js', 'swagger-ui.css'].map(name => file('docs', name, SWAGGER_FILES)),
    ...['main.js', 'viewer.css'].map(name => file('viewer', name, VIEWER_FILES)),
  ]
}

/** The page at `/`: what the mirror has, with links to charts, exports and the API reference. */
async function homePage(tree: Tree): Promise<string> {
  const { mirror } = tree
  const series = await seriesStatuses(mirror, undefined, one => mirror.status(one))
  return readPage('home', mirror)
    .replace('<!-- origin -->', () => describeOrigin(tree))
    .replace('<!-- sum -->', () => describeSum(series, tree))
    .replace('<!-- series -->', () => series.map(one => seriesRow(one, idleSince(mirror, one))).join('\n'))
}

function describeSum(series: readonly SeriesStatus[], { mirror, upstream }: Tree): string {
  const command = `klines download BTCUSDT -i 1h${escapeMarkup(downloadFlags(mirror))}`
  const link = '<a href="chart">Open a chart</a>, and its candles are downloaded.'
  if (series.length === 0) return `This mirror is empty. ${upstream ? link : `<code>${command}</code> fills it.`}`
  const [windows, bytes] = [sumOf(series.map(one => one.windows)), sumOf(series.map(one => one.cachedBytes))]
  const symbols = plural(new Set(series.map(({ symbol }) => symbol)).size, 'symbol')
  return `${plural(windows, 'window')}, ${formatBytes(bytes)}, ${plural(series.length, 'series')} of ${symbols}`
}

function readPage(name: string, { baseUrl }: ServedMirror): string {
  const page = readFileSync(ownFile(`${DOCS_FILES}/${name}.html`), 'utf8')
  return page.replace('<!-- badge -->', baseUrl === SAMPLE ? SAMPLE_BADGE : '')
}

/** Its links are relative, so that they hold below any path of a proxy. */
function chartPage(mirror: ServedMirror, path: string): string {
  const up = '../'.repeat(path.split('/').length - 2) || './'
  return readPage('chart', mirror).replaceAll('="./', `="${up}`)
}

function describeOrigin({ mirror, upstream }: Tree): string {
  const { kind, address = '' } = describeSource(mirror)
  if (kind === 'sample') return 'This server has synthetic sample data: no market ever traded at these prices.'
  if (kind === 'unknown') return 'The source of these files is unknown.'
  const { badge } = mirror.rules.market ?? {}
  const exchange = kind !== 'exchange' ? '' : badge ? `${badge} of Binance: ` : 'the exchange Binance: '
  const downloads = upstream ? ' Windows that are missing or can still change are downloaded on request.' : ''
  return `A mirror of ${exchange}<code>${escapeMarkup(address)}</code>.${downloads}`
}

function seriesRow(status: SeriesStatus, noTradeSince: number | undefined): string {
  const { symbol, interval, windows, firstOpenTime, lastOpenTime, cachedBytes } = status
  const name = encodeURIComponent(symbol)
  const file = `export/${interval}/${name}`
  const ended = noTradeSince === undefined ? '' : `, no trade since ${formatTime(noTradeSince)}`
  return `<tr><th scope="row">${escapeMarkup(symbol)}</th><td>${interval}</td><td>${formatCount(windows)}</td>
<td>${formatTime(firstOpenTime).slice(0, 10)}</td><td>${formatTime(lastOpenTime)}${ended}</td><td>${formatBytes(cachedBytes)}</td>
<td><a href="chart/${name}/${interval}">chart</a> <a href="${file}.csv">CSV</a> <a href="${file}.parquet">Parquet</a></td></tr>`
}

/** What a server has, for the candle viewer: its symbols, those with cached windows first, and every cached series. */
async function findCoverage({ mirror, upstream }: Tree) {
  const series = await seriesStatuses(mirror, undefined, one => mirror.status(one))
  return {
    source: describeSource(mirror),
    downloadFlags: downloadFlags(mirror),
    upstream: upstream !== undefined,
    intervals: mirror.intervals,
    symbols: [...new Set([...series.map(({ symbol }) => symbol), ...knownSymbols(mirror)])],
    series,
  }
}

/** One series, cached or not, and its windows without a file between the first and the last one with candles. */
function findSeriesCoverage({ mirror, upstream, now }: Tree, series: Series) {
  const madeOf = upstream || mirror.has(series) ? undefined : findFiner(mirror, series)?.interval
  const status = mirror.status({ ...series, interval: madeOf ?? series.interval })
  const { firstOpenTime = 0, lastOpenTime = 0 } = status
  const isMissing = (date: string) => {
    const isBetween = Date.parse(date) > firstOpenTime && Date.parse(date) < lastOpenTime
    return isBetween && mirror.version(windowPath(windowOf(series, date))) === undefined
  }
  return {
    ...status,
    ...series,
    madeOf,
    known: mirror.knows(series.symbol),
    // The sample is complete, and its empty windows have no files.
    missingStartDates: mirror.source === SAMPLE ? [] : knownDates(mirror, series.interval, now()).filter(isMissing),
    upstream: upstream !== undefined,
    now: now(),
  }
}

/** Where the candles of a mirror come from. Anything may be in `mirror.json`, so only an address is shown. */
function describeSource({ baseUrl = '' }: ServedMirror) {
  if (baseUrl === SAMPLE) return { kind: 'sample', address: undefined }
  const address = toAddress(baseUrl)
  if (!/^https?:\/\//.test(address)) return { kind: 'unknown', address: undefined }
  return { kind: isExchange(baseUrl) ? 'exchange' : 'service', address }
}

/** What `klines download` needs besides a series to fill a mirror. No page shows a folder of this machine. */
function downloadFlags(mirror: ServedMirror): string {
  const isKnown = describeSource(mirror).kind !== 'unknown'
  const source = (isKnown && mirror.baseUrl) || PUBLIC_BASE_URL
  const flags = source === PUBLIC_BASE_URL ? '' : ` --base-url ${quoteWord(source)}`
  // A user without a home folder has no default mirror.
  const isDefault = findUserFolder('cache') !== undefined && resolve(mirror.root) === resolve(defaultMirrorRoot(source))
  return isDefault ? flags : `${flags} --mirror FOLDER`
}
