import { EXPORT_SPEC_PATH, GREETING_SPEC_PATH, KLINES_SPEC_PATH } from '../../greeting/paths.js'
import { formatBytes, formatCount, formatTime, plural } from '../../klines/text.js'
import { type SeriesStatus, seriesStatuses } from '../../mirror/status.js'
import type { Route } from '../app.js'
import { describeSource, downloadFlags, type MirrorSourceFacts } from '../coverage.js'
import type { Tree } from '../tree.js'
import { type Html, html, pageBody, pageHead, SAMPLE_BADGE, sendPage } from './page.js'

/** The routes of the pages at `/` and `/reference`. */
export function homeRoutes(tree: Tree): Route[] {
  const page = (url: string, make: () => Promise<Html>): Route => {
    const handler: Route['handler'] = async (request, reply) => sendPage(request, reply, pageBody(await make()))
    return { method: 'GET', url, isPrivate: true, handler }
  }
  return [page('/', () => homePage(tree)), page('/reference', async () => referencePage())]
}

/** The page at `/`: what the mirror has, with links to charts, exports and the API reference. */
async function homePage({ mirror, upstream }: Tree): Promise<Html> {
  const source = describeSource(mirror)
  const series = await seriesStatuses(mirror)
  return html`${pageHead('klines server', { root: '', styles: ['docs/page.css'] })}
</head>
<body>
<header>
<h1>klines ${source.kind === 'sample' ? SAMPLE_BADGE : ''}</h1>
<p>Historical candles of trading pairs: charts, downloads, plain JSON files, and a small greeting API.</p>
<nav aria-label="Pages"><a href="chart">Chart</a> <a href="reference">API reference</a></nav>
</header>
<main>
<h2>This mirror</h2>
${originNote(source, upstream !== undefined)}
${series.length === 0 ? html`<p class="note">This mirror is empty. <code>klines download BTCUSDT -i 1h${downloadFlags(mirror)}</code> fills it.</p>` : seriesTable(series)}
</main>
</body>
</html>
`
}

/** Where the candles come from. */
function originNote({ kind, address = '' }: MirrorSourceFacts, upstream: boolean): Html {
  if (kind === 'sample') {
    return html`<p class="note">This server has synthetic sample data: no market ever traded at these prices.</p>`
  }
  if (kind === 'unknown') return html`<p class="note">The source of these files is unknown.</p>`
  const exchange = kind === 'exchange' ? 'the exchange Binance: ' : ''
  const downloads = upstream ? ' Windows that are missing or can still change are downloaded on request.' : ''
  return html`<p class="note">A mirror of ${exchange}<code>${address}</code>.${downloads}</p>`
}

function seriesTable(series: readonly SeriesStatus[]): Html {
  const sum = (count: (one: SeriesStatus) => number) => series.reduce((total, one) => total + count(one), 0)
  const windows = plural(
    sum(({ windows }) => windows),
    'window',
  )
  const symbols = plural(new Set(series.map(({ symbol }) => symbol)).size, 'symbol')
  return html`<p>${windows}, ${formatBytes(sum(({ cachedBytes }) => cachedBytes))}, ${plural(series.length, 'series')} of ${symbols}</p>
<div class="wide">
<table>
<thead>
<tr><th scope="col">Symbol</th><th scope="col">Interval</th><th scope="col">Windows</th><th scope="col">First candle</th>
<th scope="col">Newest (UTC)</th><th scope="col">Size</th><th scope="col"></th></tr>
</thead>
<tbody>
${series.map(seriesRow)}</tbody>
</table>
</div>`
}

function seriesRow(status: SeriesStatus): Html {
  const { symbol, interval } = status
  const file = `export/${interval}/${encodeURIComponent(symbol)}`
  const links = html`<a href="chart/${encodeURIComponent(symbol)}/${interval}">chart</a> <a href="${file}.csv">CSV</a> <a href="${file}.parquet">Parquet</a>`
  return html`<tr><th scope="row">${symbol}</th><td>${interval}</td><td>${formatCount(status.windows)}</td>
<td>${formatTime(status.firstOpenTime).slice(0, 10)}</td><td>${formatTime(status.lastOpenTime)}</td>
<td>${formatBytes(status.cachedBytes)}</td><td>${links}</td></tr>
`
}

const REFERENCES = [
  ['Candles', KLINES_SPEC_PATH],
  ['Exports', EXPORT_SPEC_PATH],
  ['Greeting', GREETING_SPEC_PATH],
] as const

/** The page at `/reference`: the reference of each OpenAPI document, which its script draws. */
function referencePage(): Html {
  const files = { root: '', styles: ['docs/swagger-ui.css', 'docs/page.css'], script: 'docs/page.js' }
  return html`${pageHead('klines API reference', files)}
</head>
<body>
<header>
<h1>API reference</h1>
<nav aria-label="Pages"><a href="./">klines server</a> <a href="chart">Chart</a></nav>
</header>
<main>
${REFERENCES.map(
  ([name, path]) => html`<h2>${name}</h2>
<p><a href="${path}">/${path}</a></p>
<details><summary>${name}</summary><div data-openapi="${path}"></div></details>
`,
)}<noscript><p class="note">The reference is drawn by a script of this server, and scripts are off.</p></noscript>
</main>
</body>
</html>
`
}
