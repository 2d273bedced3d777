/** Script, icon and style of the page at `/`, besides Swagger UI's own files. */

/** Draws an API reference in every `data-openapi` element; follows the system's dark mode. */
export const PAGE_SCRIPT = `'use strict'
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
for (const place of document.querySelectorAll('[data-openapi]')) {
  SwaggerUIBundle({
    url: place.dataset.openapi,
    domNode: place,
    displayOperationId: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // Its default is a service on another host, asked to judge the document.
    validatorUrl: null,
  })
}
`

export const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<path stroke="#0b7a55" stroke-width="1.5" d="M5 1v14"/><path fill="#0b7a55" d="M3 4h4v7H3z"/>
<path stroke="#c2412d" stroke-width="1.5" d="M11 2v12"/><path fill="#c2412d" d="M9 5h4v6H9z"/>
</svg>
`

export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ink: #1c2430;
  --soft: #56606e;
  --paper: #fff;
  --panel: #f4f6f8;
  --line: #d9dee4;
  --link: #0b62c4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e6e9;
    --soft: #a7afba;
    --paper: #1c2022;
    --panel: #262b2e;
    --line: #3b4247;
    --link: #7db8ff;
  }
}
html { overflow-wrap: break-word; scroll-behavior: smooth; }
body {
  margin: 0 auto;
  padding: 0 20px 48px;
  max-width: 1100px;
  background: var(--paper);
  color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif;
}
header { padding: 36px 0 20px; border-bottom: 1px solid var(--line); }
h1 { margin: 0; font-size: 34px; letter-spacing: -0.5px; }
header p { margin: 4px 0 12px; color: var(--soft); font-size: 18px; }
nav a { margin-right: 16px; }
h2 { margin: 36px 0 8px; font-size: 24px; }
h3 { margin: 24px 0 4px; font-size: 17px; }
a { color: var(--link); }
main > section code {
  padding: 1px 5px;
  border-radius: 4px;
  background: var(--panel);
  font: 14px ui-monospace, monospace;
}
.note { padding: 10px 14px; border-left: 4px solid var(--link); background: var(--panel); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
.wide th, .wide td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
thead th { color: var(--soft); font-size: 14px; }
ul { padding-left: 20px; }
li { margin: 4px 0; }
html.dark-mode body { background: var(--paper); }
.swagger-ui .wrapper { padding: 0; }
.swagger-ui .info { margin: 20px 0; }
/* What says nothing here: the one server, values that a list to choose from has anyway, and links between operations. */
.swagger-ui .scheme-container,
.swagger-ui .parameter__enum,
.swagger-ui .response-col_links { display: none; }
@media (max-width: 640px) {
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-description { display: none; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 56px; padding: 4px 0; font-size: 12px; }
  .swagger-ui .opblock .opblock-summary-operation-id { padding: 0; font-size: 12px; white-space: nowrap; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { flex-basis: 100%; padding: 2px 0; }
  .wide { font-size: 14px; }
  .wide th, .wide td { padding-right: 8px; }
  .wide thead th, .wide td:last-child { white-space: normal; }
}
`
