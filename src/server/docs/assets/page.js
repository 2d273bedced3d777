const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
for (const place of document.querySelectorAll('[data-openapi]')) {
  place.parentElement.addEventListener('toggle', () => draw(place), { once: true })
}

async function draw(place) {
  await loadSwagger()
  const spec = await (await fetch(place.dataset.openapi)).json()
  // The address of this page, which a proxy may have made another one.
  spec.servers = [{ url: new URL('.', location).href.replace(/\/$/, '') }]
  SwaggerUIBundle({
    spec,
    domNode: place,
    displayOperationId: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // Its default is a service on another host, asked to judge the document.
    validatorUrl: null,
  })
}

let swagger

/** Loads the script that draws a reference: it is large, and most people open none. */
function loadSwagger() {
  swagger ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = 'docs/swagger-ui-bundle.js'
    script.onload = resolve
    script.onerror = reject
    document.head.append(script)
  })
  return swagger
}
