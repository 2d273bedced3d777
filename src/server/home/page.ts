import { EXPORT_SPEC_PATH, GREETING_SPEC_PATH, KLINES_SPEC_PATH, TOKENS_PATH } from '../../greeting-client/paths.js'
import { formatBytes, formatTime, plural } from '../../klines/text.js'
import type { Mirror } from '../../mirror/mirror.js'
import { type Html, html, pageHead, SAMPLE_BADGE } from '../pages/page.js'
import { type Coverage, describeSource, type MirrorSourceFacts } from './coverage.js'
import { SERVED_FOLDER } from './download-flags.js'
import { downloadSection, filesSection, heatMap, type IntervalExample, link } from './sections.js'

/** The colours of the coverage table: the attribute of a cell, its value, and what it means. */
const KEYS = [
  ['age', 'fresh', 'up to date'],
  ['age', 'recent', 'less than a month old'],
  ['age', 'old', 'older'],
  ['state', 'outages', 'candles missing, as in outages of the exchange'],
  ['state', 'missing', 'windows missing or corrupt'],
] as const

const REFERENCES = [
  ['Candles', KLINES_SPEC_PATH],
  ['Exports', EXPORT_SPEC_PATH],
  ['Greeting', GREETING_SPEC_PATH],
] as const

/** The page at `/`: what is served, and the elements that its scripts fill. */
export function homePage(coverage: Coverage): Html {
  const styles = ['/docs/swagger-ui.css', '/docs/page.css', '/viewer/home/home.css']
  return html`${pageHead('klines server', { styles, script: '/viewer/home/main.js' })}
<script src="/docs/page.js" type="module"></script>
</head>
<body>
<header>
<h1>klines ${coverage.source.kind === 'sample' ? SAMPLE_BADGE : ''}</h1>
<p>Historical candles of trading pairs: charts, downloads, plain JSON files, and a small greeting API.</p>
<nav aria-label="On this page">
<a href="/chart">Chart</a> <a href="#mirror">Coverage</a> <a href="#download">Download</a> <a href="#files">Files</a>
<a href="#greeting">Greeting</a> <a href="#reference">API reference</a>
</nav>
</header>
<main>
<section id="mirror" aria-labelledby="mirror-title">
<h2 id="mirror-title">This mirror</h2>
${coverage.series.length === 0 && coverage.source.kind === 'unknown' ? '' : originNote(coverage.source, coverage.upstream)}
${nextStep(coverage)}
${facts(coverage)}
${heatMap(coverage)}
<p class="legend">${KEYS.map(
    ([attribute, value, text]) => html`<span><i class="swatch" data-${attribute}="${value}"></i> ${text}</span> `,
  )}</p>
<p id="survey" role="status"></p>
<noscript><p class="note">The age of the candles and the outages are added by a script, and scripts are off.</p></noscript>
</section>
${downloadSection(coverage)}
${filesSection(coverage, findExamples(coverage))}
<section id="greeting" aria-labelledby="greeting-title">
<h2 id="greeting-title">Greeting</h2>
<ul>
<li><code>POST /api/users/<var>id</var></code> updates a user and echoes the notification type</li>
<li>${link(TOKENS_PATH)} streams a text, word by word</li>
<li>${link(GREETING_SPEC_PATH)} describes this API</li>
</ul>
</section>
<section id="reference" aria-labelledby="reference-title">
<h2 id="reference-title">API reference</h2>
<p>Three OpenAPI 3.1 documents describe this server: ${link(KLINES_SPEC_PATH)}, ${link(EXPORT_SPEC_PATH)} and
${link(GREETING_SPEC_PATH)}.</p>
${REFERENCES.map(
  ([name, path]) => html`<details><summary>${name}</summary><div data-openapi="/${path}"></div></details>
`,
)}<noscript><p class="note">The reference is drawn by a script of this server, and scripts are off.</p></noscript>
</section>
</main>
</body>
</html>
`
}

/** What to do with an empty mirror. */
function nextStep({ series, symbols, upstream, downloadFlags }: Coverage): Html {
  if (series.length > 0) return html``
  const [symbol = 'BTCUSDT'] = symbols
  const chart = html`<a href="/chart/${encodeURIComponent(symbol)}/1h">Open a chart</a>: its candles are downloaded on request.`
  const folder = downloadFlags.endsWith(SERVED_FOLDER)
    ? html` ${SERVED_FOLDER} is the folder that this server was started with.`
    : ''
  return html`<p class="note" id="next-step">This mirror is empty.${upstream ? html` ${chart}` : ''} Download candles, and load
this page again: <code>klines download ${symbol} -i 1h${downloadFlags}</code>${folder}</p>`
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

/** The oldest cached window of each interval that has candles, of the first symbol that has one. */
function findExamples({ series, intervals }: Coverage): IntervalExample[] {
  return intervals.map(interval => {
    const found = series.find(one => one.interval === interval && one.firstStartDate !== undefined)
    const startDate = found?.firstStartDate
    return { interval, window: found && startDate !== undefined ? { ...found, startDate } : undefined }
  })
}

function facts({ series, updatedTime, now }: Coverage): Html {
  const sum = (count: (one: Coverage['series'][number]) => number) =>
    series.reduce((total, one) => total + count(one), 0)
  const symbols = new Set(series.map(({ symbol }) => symbol)).size
  const missing = sum(one => one.missing)
  const cached = `${plural(
    sum(({ windows }) => windows),
    'window',
  )}, ${formatBytes(sum(({ cachedBytes }) => cachedBytes))}`
  const rows: readonly [string, string][] = [
    [
      'Cached',
      series.length === 0
        ? 'nothing yet'
        : `${cached}, ${plural(series.length, 'series')} of ${plural(symbols, 'symbol')}`,
    ],
    ['Missing', missing === 0 ? 'no window' : plural(missing, 'window')],
    ['Newest candle', '–'],
    ['Files counted', `${formatTime(now)} UTC`],
    ['Lists last fetched', updatedTime === undefined ? 'never' : `${formatTime(updatedTime)} UTC`],
  ]
  return html`<dl id="facts">
${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd data-fact="${name}">${value}</dd></div>\n`)}</dl>`
}

/** Seconds after which a browser without scripts asks again. */
const REFRESH_S = 3

/** The page at `/` while the files of a large mirror are counted for the first time. Its script loads the page again after that. */
export function underwayPage(mirror: Mirror, upstream: boolean): Html {
  const styles = ['/docs/page.css', '/viewer/home/home.css']
  const source = describeSource(mirror)
  return html`${pageHead('klines server', { styles, script: '/viewer/home/main.js' })}
<noscript><meta http-equiv="refresh" content="${REFRESH_S}"></noscript>
</head>
<body>
<header>
<h1>klines ${source.kind === 'sample' ? SAMPLE_BADGE : ''}</h1>
<p>Historical candles of trading pairs: charts, downloads, plain JSON files, and a small greeting API.</p>
<nav aria-label="Pages"><a href="/chart">Chart</a></nav>
</header>
<main>
<section id="mirror" aria-labelledby="mirror-title">
<h2 id="mirror-title">This mirror</h2>
${originNote(source, upstream)}
<p id="underway" role="status">This mirror has many files, which are being counted. The page shows them when that is done.</p>
</section>
</main>
</body>
</html>
`
}
