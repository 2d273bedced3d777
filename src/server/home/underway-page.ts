import type { Mirror } from '../../mirror/mirror.js'
import { type Html, html, pageHead } from '../pages/html.js'
import { originNote } from './page.js'
import { describeSource } from './source.js'

/** Seconds after which a browser without scripts asks again. */
const REFRESH_S = 3

/** The page at `/` while the files of a large mirror are counted for the first time. Its script loads the page again after that. */
export function underwayPage(mirror: Mirror, upstream: boolean): Html {
  const styles = ['/docs/page.css', '/viewer/home/home.css']
  return html`${pageHead('klines server', { styles, script: '/viewer/home/main.js' })}
<noscript><meta http-equiv="refresh" content="${REFRESH_S}"></noscript>
</head>
<body>
<header>
<h1>klines</h1>
<p>Historical candles of trading pairs: charts, downloads, plain JSON files, and a small greeting API.</p>
<nav aria-label="Pages"><a href="/chart">Chart</a></nav>
</header>
<main>
<section id="mirror" aria-labelledby="mirror-title">
<h2 id="mirror-title">This mirror</h2>
${originNote(describeSource(mirror), upstream)}
<p id="underway" role="status">This mirror has many files, which are being counted. The page shows them when that is done.</p>
</section>
</main>
</body>
</html>
`
}
