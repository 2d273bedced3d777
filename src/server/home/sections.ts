import type { Interval } from '../../klines/intervals.js'
import { intervalSegment, SYMBOLS_PATH, startDatesPath, windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import { plural } from '../../klines/text.js'
import { windowLength } from '../../klines/windows.js'
import { type Html, html } from '../pages/page.js'
import type { Coverage, SeriesCoverage } from './coverage.js'

/**
 * The table of all series: what is cached, and a link to the chart. The script of the page adds what only the candles say: age,
 * outages and corrupt windows.
 */
export function heatMap({ intervals, symbols, series }: Coverage): Html {
  const cells = new Map(series.map(one => [`${one.symbol} ${one.interval}`, one]))
  const row = (symbol: SymbolName) => html`<tr><th scope="row">${symbol}</th>${intervals.map(interval =>
    cell(symbol, interval, cells.get(`${symbol} ${interval}`)),
  )}</tr>
`
  return html`<div class="wide">
<table id="coverage">
<thead>
<tr><th scope="col">Symbol</th>${intervals.map(interval => html`<th scope="col">${interval}</th>`)}</tr>
</thead>
<tbody>
${symbols.map(row)}</tbody>
</table>
</div>
`
}

function cell(symbol: SymbolName, interval: Interval, coverage: SeriesCoverage | undefined): Html {
  const state = coverage === undefined ? 'none' : coverage.missing > 0 ? 'missing' : 'cached'
  const text = `${symbol} ${interval}: ${describe(coverage)}`
  const mark = coverage === undefined ? '–' : coverage.missing > 0 ? String(coverage.missing) : '✓'
  return html`<td><a href="/chart/${encodeURIComponent(symbol)}/${interval}" data-state="${state}" title="${text}" aria-label="${text}">${mark}</a></td>`
}

function describe(coverage: SeriesCoverage | undefined): string {
  if (coverage === undefined) return 'nothing cached'
  const cached = `${plural(coverage.windows, 'window')} cached`
  return coverage.missing > 0 ? `${cached}, ${coverage.missing} missing` : cached
}

/** An interval, with a cached window that has candles. */
export interface IntervalExample {
  readonly interval: Interval
  readonly window: WindowRef | undefined
}

/** The form for downloads; the script of the page fills in links and commands. */
export function downloadSection({ symbols, intervals }: Coverage): Html {
  const options = (names: readonly string[], chosen?: string) =>
    names.map(name => (name === chosen ? html`<option selected>${name}</option>` : html`<option>${name}</option>`))
  return html`<section id="download" aria-labelledby="download-title">
<h2 id="download-title">Download candles</h2>
<form id="download-form">
<label>Symbol <select name="symbol">${options(symbols)}</select></label>
<label>Interval <select name="interval">${options(intervals, '1h')}</select></label>
<label>From <input name="from" type="date"></label>
<label>To <input name="to" type="date"></label>
</form>
<p id="download-links"></p>
<dl id="download-commands"></dl>
<noscript><p>Without scripts: <code>/export/<var>interval</var>/<var>symbol</var>.csv</code>, also .parquet, .json, .jsonl and
.arrow; with <code>?from=2024-01-01&amp;to=2024-02-01</code> a range.</p></noscript>
</section>`
}

/** The files of the tree: lists, and an example of each interval. */
export function filesSection({ symbols }: Coverage, examples: readonly IntervalExample[]): Html {
  return html`<section id="files" aria-labelledby="files-title">
<h2 id="files-title">Files</h2>
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
${examples.map(intervalRow)}
</tbody>
</table>
</div>
</section>`
}

function intervalRow({ interval, window }: IntervalExample): Html {
  const list = html`<a href="/${startDatesPath(interval)}">${intervalSegment(interval)}.json</a>`
  const example = window
    ? html`<a href="/${encodeURI(windowPath(window))}">${window.symbol} ${window.startDate}</a>`
    : 'none here yet'
  return html`<tr><th scope="row">${interval}</th><td>${windowLength(interval)}</td><td>${list}</td><td>${example}</td></tr>
`
}

/** A link to a path of this server, which is its text. */
export function link(path: string): Html {
  return html`<a href="/${path}">/${path}</a>`
}
