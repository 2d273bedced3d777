import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasChromium, useBrowser } from '../../support/chromium.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { usePages } from '../../support/servers/served-pages.js'

const TEN = ['BTC', 'ETH', 'BNB', 'SOL', 'XRP', 'ADA', 'DOGE', 'AVAX', 'LINK', 'DOT'].map(coin => `${coin}USDT`)
const DOCUMENTS = ['/api/openapi.json', '/export/openapi.json', '/api/static/openapi.json']

describe.skipIf(!hasChromium)('the page at /reference in Chromium (skipped where it is not installed)', () => {
  const serverUrl = usePages(() => SAMPLE_TREE)
  const open = useBrowser()

  /** Opens the page and its API references, and waits until they are drawn. */
  async function openDocs(options?: Parameters<typeof open>[1], url = serverUrl()) {
    const opened = await open(`${url}/reference`, options)
    await opened.page.evaluate("for (const one of document.querySelectorAll('main > details')) one.open = true")
    for (const path of DOCUMENTS)
      await opened.page
        .locator(`[data-openapi="${path.slice(1)}"] .opblock`)
        .first()
        .waitFor()
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

  it.each(['127.0.0.1', 'localhost'])(
    'every operation is shown; "Try it out" sends a request to this server, with the example values, opened at %s',
    async host => {
      const { url, page, faults, requests } = await openDocs({}, serverUrl().replace('127.0.0.1', host))
      await expectOperations(url, page)
      expect(await tryOut(page, 'operations-meta-getSymbols')).toEqual(TEN)
      expect(requests).toContain(`${url}/api/klines/symbols.json`)
      expect(await tryOut(page, 'operations-UserRPC-updateUser')).toMatchObject({ success: true, notify: 'email' })
      expect(faults).toEqual([])
    },
  )

  const LOOKS = [
    ['light', 1280, 390],
    ['dark', 390, 1280],
  ] as const
  it.each(LOOKS)('%s, %i pixels wide, then %i: no fault, no scroll bar, no request to another host', async (...row) => {
    const [colorScheme, first, second] = row
    const { url, page, faults, requests } = await openDocs({ colorScheme, viewport: { width: first, height: 800 } })
    // As text: the tests are compiled without DOM types.
    const isDark = await page.evaluate("document.documentElement.classList.contains('dark-mode')")
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    expect([isDark, Number(background.match(/\d+/)) < 128]).toEqual([colorScheme === 'dark', colorScheme === 'dark'])
    for (const width of [first, second]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate(`[innerWidth, document.documentElement.scrollWidth > ${width}]`)).toEqual([
        width,
        false,
      ])
    }
    expect(faults).toEqual([])
    expect(requests.filter(address => !address.startsWith(`${url}/`) && !address.startsWith('data:'))).toEqual([])
    expect(requests).toEqual(expect.arrayContaining(DOCUMENTS.map(path => url + path)))
  })
})
