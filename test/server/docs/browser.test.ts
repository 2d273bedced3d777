import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasChromium, useBrowser } from '../../support/chromium.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { startPathProxy } from '../../support/servers/path-proxy.js'
import { usePages } from '../../support/servers/served-pages.js'

/** Those of which the sample has windows. */
const SYMBOLS = ['BTCUSDT', 'ETHUSDT']
const DOCUMENTS = ['/api/openapi.json', '/export/openapi.json', '/api/static/openapi.json']

describe.skipIf(!hasChromium)('the page at /reference in Chromium (skipped where it is not installed)', () => {
  const serverUrl = usePages(() => SAMPLE_TREE)
  const open = useBrowser()

  /** Opens the page and API references of it, and waits until they are drawn. */
  async function openDocs(url = serverUrl(), documents = DOCUMENTS) {
    const opened = await open(`${url}/reference`)
    for (const path of documents) {
      const reference = `[data-openapi="${path.slice(1)}"]`
      await opened.page.evaluate(`document.querySelector('main > details:has(${reference})').open = true`)
      await opened.page.locator(`${reference} .opblock`).first().waitFor()
    }
    return { url, ...opened }
  }

  /** Executes an operation with its example values; returns the JSON body that the page shows. */
  async function tryOut(page: Page, id: string): Promise<unknown> {
    const operation = page.locator(`#${id}`)
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('button', { name: 'Execute' }).click()
    const body = operation.locator('.live-responses-table .highlight-code .microlight')
    await body.waitFor()
    return JSON.parse((await body.textContent()) ?? '')
  }

  /** Each document is shown with all its operations. */
  async function expectOperations(url: string, page: Page): Promise<void> {
    for (const path of DOCUMENTS) {
      const { paths } = (await (await fetch(url + path)).json()) as { paths: object }
      const documented = Object.entries(paths).flatMap(([template, operations]) =>
        Object.entries(operations as Record<string, { operationId: string }>).map(
          ([method, { operationId }]) => `${method.toUpperCase()} ${template} ${operationId}`,
        ),
      )
      const shown = await page.locator(`[data-openapi="${path.slice(1)}"] .opblock-summary`).evaluateAll(summaries =>
        summaries.map(summary =>
          ['method', 'path', 'operation-id']
            // Swagger UI puts a zero-width space before every slash, where a line may break.
            .map(part => summary.querySelector(`.opblock-summary-${part}`)?.textContent.replaceAll('\u200b', ''))
            .join(' '),
        ),
      )
      expect(documented.length, path).toBeGreaterThan(1)
      expect(shown.sort(), path).toEqual(documented.sort())
    }
  }

  it('below a path of a proxy, "Try it out" asks below that path', async () => {
    const { url, page, faults, requests } = await openDocs(await startPathProxy(serverUrl()), DOCUMENTS.slice(0, 1))
    expect(await tryOut(page, 'operations-meta-getSymbols')).toEqual(SYMBOLS)
    expect(requests).toContain(`${url}/api/klines/symbols.json`)
    expect(faults).toEqual([])
  })

  it('every operation is shown; "Try it out" asks this server; light and dark, wide and narrow, without another host', async () => {
    const { url, page, faults, requests } = await openDocs()
    await expectOperations(url, page)
    expect(await tryOut(page, 'operations-meta-getSymbols')).toEqual(SYMBOLS)
    expect(requests).toContain(`${url}/api/klines/symbols.json`)
    expect(await tryOut(page, 'operations-UserRPC-updateUser')).toMatchObject({ success: true, notify: 'email' })
    for (const [colorScheme, width] of [
      ['light', 390],
      ['dark', 1280],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await expect
        .poll(() => page.evaluate("document.documentElement.classList.contains('dark-mode')"))
        .toBe(colorScheme === 'dark')
      const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      expect(Number(background.match(/\d+/)) < 128).toBe(colorScheme === 'dark')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
    expect(faults).toEqual([])
    expect(requests.filter(address => !address.startsWith(`${url}/`) && !address.startsWith('data:'))).toEqual([])
  })
})
