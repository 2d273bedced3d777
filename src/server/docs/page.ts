import { EXPORT_SPEC_PATH, GREETING_SPEC_PATH, KLINES_SPEC_PATH, TOKENS_PATH } from '../../greeting-client/paths.js'
import { isExchange, SAMPLE, toAddress } from '../../http/base-url.js'
import type { Interval } from '../../klines/intervals.js'
import { SYMBOLS_PATH, startDatesPath, windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import { windowLength } from '../../klines/windows.js'

/** Facts about the served tree that the page shows. */
export interface PageContent {
  /** Base address of the service that the tree mirrors; undefined when unknown. */
  readonly baseUrl: string | undefined
  readonly symbols: readonly string[]
  /** Every interval, with a cached window that has candles. */
  readonly intervals: readonly { readonly interval: Interval; readonly example: WindowRef | undefined }[]
}

/** Text that is HTML already and needs no escaping. */
class Html {
  constructor(readonly text: string) {}
}

/** The page at `/`: links to what is served, and the elements that its script fills with the API reference. */
export function docsPage({ baseUrl, symbols, intervals }: PageContent): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>klines server</title>
<link rel="icon" type="image/svg+xml" href="/docs/favicon.svg">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/page.js" defer></script>
</head>
<body>
<header>
<h1>klines</h1>
<p>Historical candles of trading pairs as plain JSON files, and a small greeting API.</p>
<nav aria-label="On this page">
<a href="#candles">Candles</a> <a href="#greeting">Greeting</a> <a href="#reference">API reference</a>
</nav>
</header>
<main>
<section id="candles" aria-labelledby="candles-title">
<h2 id="candles-title">Candles</h2>
${origin(baseUrl)}
<p>One file holds the candles of a window:
<code>/api/klines/<var>interval</var>/<var>symbol</var>/<var>startDate</var>.json</code></p>
<h3>Symbols</h3>
<p>${symbols.length > 0 ? symbols.map(symbol => html`<code>${symbol}</code> `) : 'none here yet'}</p>
<p>${link(SYMBOLS_PATH)}</p>
<h3>Intervals</h3>
<div class="wide">
<table>
<thead>
<tr><th scope="col">Interval</th><th scope="col">Window</th><th scope="col">Start dates</th>
<th scope="col">Example</th></tr>
</thead>
<tbody>
${intervals.map(intervalRow)}
</tbody>
</table>
</div>
</section>
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
<noscript><p class="note">The reference is drawn by a script of this server, and scripts are off.</p></noscript>
</section>
<div id="klines-api" data-openapi="/${KLINES_SPEC_PATH}"></div>
<div id="export-api" data-openapi="/${EXPORT_SPEC_PATH}"></div>
<div id="greeting-api" data-openapi="/${GREETING_SPEC_PATH}"></div>
</main>
</body>
</html>
`.text
}

function origin(baseUrl: string | undefined): Html {
  if (baseUrl === SAMPLE) {
    return html`<p class="note">This server has synthetic sample data: no market ever traded at these prices.</p>`
  }
  // Only an address is shown: anything may be in mirror.json.
  const address = toAddress(baseUrl ?? '')
  if (!/^https?:\/\//.test(address)) {
    return html`<p class="note">The source of these files is unknown.</p>`
  }
  const exchange = isExchange(baseUrl) ? 'the exchange Binance: ' : ''
  return html`<p class="note">A mirror of ${exchange}<code>${address}</code>.</p>`
}

function intervalRow({ interval, example }: PageContent['intervals'][number]): Html {
  const list = html`<a href="/${startDatesPath(interval)}">${interval}.json</a>`
  const window = example
    ? html`<a href="/${windowPath(example)}">${example.symbol} ${example.startDate}</a>`
    : 'none here yet'
  return html`<tr><th scope="row">${interval}</th><td>${windowLength(interval)}</td><td>${list}</td><td>${window}</td></tr>
`
}

function link(path: string): Html {
  return html`<a href="/${path}">/${path}</a>`
}

/** Tag of HTML templates: escapes every value that is not `Html`. */
function html(parts: TemplateStringsArray, ...values: readonly (string | number | Html | readonly Html[])[]): Html {
  const text = values.map((value, index) => toMarkup(value) + parts[index + 1])
  return new Html(parts[0] + text.join(''))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function toMarkup(value: string | number | Html | readonly Html[]): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toMarkup).join('')
  return String(value).replace(/[&<>"']/g, character => ENTITIES[character])
}
