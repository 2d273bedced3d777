import type { Interval } from '../../klines/intervals.js'
import type { SymbolName } from '../../klines/symbols.js'
import { plural } from '../../klines/text.js'
import { type Html, html } from '../pages/html.js'
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
