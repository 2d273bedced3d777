import { formatBytes, formatCount, formatTime, plural } from '../candles/text.js'
import { type SeriesStatus, seriesStatuses } from '../mirror/status.js'
import { describeSource, downloadFlags } from './coverage.js'
import { type Html, html, SAMPLE_BADGE } from './pages.js'
import type { Tree } from './tree.js'

/** The page at `/`: what the mirror has, with links to charts, exports and the API reference. */
export async function homePage(tree: Tree): Promise<string> {
  const { mirror } = tree
  const series = await seriesStatuses(mirror)
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>klines server</title>
<link rel="icon" type="image/svg+xml" href="docs/favicon.svg">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<header>
<h1>klines ${describeSource(mirror).kind === 'sample' ? SAMPLE_BADGE : ''}</h1>
<p>Historical candles of trading pairs: charts, downloads, plain JSON files, and a small greeting API.</p>
<nav aria-label="Pages"><a href="chart">Chart</a> <a href="reference">API reference</a></nav>
</header>
<main>
<h2>This mirror</h2>
<p class="note">${describeOrigin(tree)}</p>
${series.length === 0 ? html`<p class="note">This mirror is empty. <code>klines download BTCUSDT -i 1h${downloadFlags(mirror)}</code> fills it.</p>` : seriesTable(series)}
</main>
</body>
</html>
`
  return page.text
}

/** Where the candles come from. */
function describeOrigin({ mirror, upstream }: Tree): Html {
  const { kind, address = '' } = describeSource(mirror)
  if (kind === 'sample') return html`This server has synthetic sample data: no market ever traded at these prices.`
  if (kind === 'unknown') return html`The source of these files is unknown.`
  const exchange = kind === 'exchange' ? 'the exchange Binance: ' : ''
  const downloads = upstream ? ' Windows that are missing or can still change are downloaded on request.' : ''
  return html`A mirror of ${exchange}<code>${address}</code>.${downloads}`
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
