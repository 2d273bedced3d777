import { type Html, html } from '../pages/html.js'

/** The page at `/chart`: the elements that its script fills. `modules` are preloaded, so that none waits for another. */
export function chartPage(modules: readonly string[]): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>klines chart</title>
<link rel="icon" type="image/svg+xml" href="/docs/favicon.svg">
<link rel="stylesheet" href="/viewer/chart/chart.css">
${modules.map(path => html`<link rel="modulepreload" href="${path}">\n`)}<script type="module" src="/viewer/chart/main.js"></script>
</head>
<body>
<main id="chart"></main>
</body>
</html>
`
}
