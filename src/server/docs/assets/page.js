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
