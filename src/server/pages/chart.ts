import { SAMPLE } from '../../sources/base-url.js'
import type { Route } from '../app.js'
import type { ServedMirror } from '../served-mirror.js'
import { type Html, html, pageBody, pageHead, SAMPLE_BADGE, sendPage } from './page.js'

/** The routes of the candle viewer. Its script reads the series from the address, whatever that names. */
export function chartRoutes(mirror: ServedMirror): Route[] {
  const [page, samplePage] = [html``, SAMPLE_BADGE].map(badge => pageBody(chartPage(badge)))
  return ['/chart', '/chart/', '/chart/:symbol', '/chart/:symbol/', '/chart/:symbol/:interval'].map(url => ({
    method: 'GET',
    url,
    isPrivate: true,
    // A mirror may get its first file, and with it its source, while it is served.
    handler: (request, reply) => sendPage(request, reply, mirror.baseUrl === SAMPLE ? samplePage : page),
  }))
}

/** The page at `/chart`: the elements that its script fills. */
function chartPage(badge: Html): Html {
  const files = { root: '/', styles: ['viewer/chart/chart.css'], script: 'viewer/chart/main.js' }
  return html`${pageHead('klines chart', files)}
</head>
<body>
${toolbar()}
<main>
<section id="legend" aria-label="Candle under the cursor, or the last visible one">
<p id="legend-title"><strong id="legend-series">Candles</strong> <span id="legend-time"></span> <span id="legend-change"></span></p>
<button id="legend-more" type="button" aria-label="All columns" aria-expanded="false" aria-controls="legend-columns"></button>
<dl id="legend-columns"></dl>
</section>
<div id="activity" hidden>
<p><span id="activity-text" role="status"></span>
<span id="pause" hidden>The service limits requests: trying again in <span id="countdown" role="timer"></span>
<button id="try-now" type="button">Try now</button></span></p>
</div>
<div id="chart" role="application" tabindex="0" aria-label="Candle chart" aria-describedby="keys"></div>
${badge}
<dialog id="help-dialog" aria-labelledby="help-title" closedby="any">
<h2 id="help-title">Keys</h2>
<dl id="keys">
${KEYS.map(
  ([keys, text]) => html`<div><dt>${keys.map(key => html`<kbd>${key}</kbd> `)}</dt><dd>${text}</dd></div>
`,
)}</dl>
<form method="dialog"><button>Close</button></form>
</dialog>
<div id="message" role="alert" hidden>
<p id="message-text"></p>
<ul id="message-choices" hidden></ul>
<button id="retry" type="button" hidden>Try again</button>
<button id="close" type="button" aria-label="Close">×</button>
</div>
<noscript><p class="noscript">The chart is drawn by a script of this server, and scripts are off.</p></noscript>
</main>
<footer>
<p id="status" role="status"></p>
<p id="attribution">TradingView Lightweight Charts™ Copyright (c) 2025 TradingView, Inc.
<a href="https://www.tradingview.com/" rel="noopener noreferrer">https://www.tradingview.com/</a></p>
</footer>
</body>
</html>
`
}

/** What keys do in the chart. */
const KEYS: readonly [readonly string[], string][] = [
  [['←', '→'], 'move by a tenth of the screen'],
  [['Shift', '←', '→'], 'move by a screen'],
  [['+', '−'], 'zoom'],
  [['Home'], 'show the first candles'],
  [['End'], 'show the newest candles'],
  [['Tab'], 'go through the controls; a symbol is found by any part of its name'],
  [['?'], 'list these keys'],
  [['Esc'], 'close this list'],
]

function toolbar(): Html {
  return html`<header>
<a id="home" href="/" title="Home of this server">klines</a>
<div id="symbol-box"><input id="symbol" role="combobox" aria-label="Symbol" title="Symbol" aria-autocomplete="list"
aria-expanded="false" aria-controls="symbols" spellcheck="false" autocomplete="off" autocapitalize="characters" enterkeyhint="go">
<ul id="symbols" role="listbox" aria-label="Symbols" hidden></ul></div>
<div id="intervals" role="group" aria-label="Interval"></div>
<label class="check"><input id="log" type="checkbox"> Log</label>
<input id="day" type="date" aria-label="Jump to a day" title="Jump to a day">
<select id="zone" aria-label="Time zone" title="Time zone"><option value="utc">UTC</option>
<option value="local">Local</option></select>
<button id="theme" type="button"><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
<circle class="ring" cx="8" cy="8" r="6"/><path class="half" d="M8 2a6 6 0 0 1 0 12z"/><circle class="full" cx="8" cy="8" r="6"/></svg></button>
<button id="help" type="button" aria-label="Keys" aria-haspopup="dialog" title="Keys (?)">?</button>
<div id="downloads" role="group" aria-label="Download the visible candles">
<a data-format="csv" title="Download the visible candles as CSV" download>CSV</a>
<a data-format="parquet" title="Download the visible candles as Parquet" download>Parquet</a>
</div>
</header>`
}
