import { describe, expect, it } from 'vitest'
import { hasChromium, openPage } from '../../support/chromium.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { requestFrom, startTestServer } from '../../support/servers/test-server.js'

const TEN = ['BTC', 'ETH', 'BNB', 'SOL', 'XRP', 'ADA', 'DOGE', 'AVAX', 'LINK', 'DOT'].map(coin => `${coin}USDT`)
const DOCUMENTS = ['/api/openapi.json', '/api/static/openapi.json']

/** The page in a browser, when both references are drawn. */
async function openDocs(options?: Parameters<typeof openPage>[1]) {
  const { url } = await startTestServer(SAMPLE_TREE)
  const opened = await openPage(`${url}/`, options)
  for (const path of DOCUMENTS) await opened.page.locator(`[data-openapi="${path}"] .opblock`).first().waitFor()
  return { url, ...opened }
}

describe.skipIf(!hasChromium)(
  'the page at / in a browser (skipped where there is no chromium)',
  { timeout: 120_000 },
  () => {
    it.each(DOCUMENTS)('shows every operation of %s', async path => {
      const { url, page } = await openDocs()
      const { paths } = JSON.parse(String((await requestFrom(url, path)).body))
      const documented = Object.entries(paths).flatMap(([at, operations]) =>
        Object.entries(operations as Record<string, { operationId: string }>).map(
          ([method, { operationId }]) => `${method.toUpperCase()} ${at} ${operationId}`,
        ),
      )
      const shown = await page.locator(`[data-openapi="${path}"] .opblock-summary`).evaluateAll(summaries =>
        summaries.map(summary =>
          ['method', 'path', 'operation-id']
            // Swagger UI puts a zero-width space before every slash, where a line may break.
            .map(part => summary.querySelector(`.opblock-summary-${part}`)?.textContent.replaceAll('\u200b', ''))
            .join(' '),
        ),
      )
      expect(documented.length).toBeGreaterThan(2)
      expect(shown.sort()).toEqual(documented.sort())
    })

    it('"Try it out" asks this server, and shows what it answers', async () => {
      const { url, page, faults, requests } = await openDocs()
      const operation = page.locator('#operations-meta-getSymbols')
      await operation.locator('.opblock-summary-control').click()
      await operation.getByRole('button', { name: 'Try it out' }).click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      const body = operation.locator('.live-responses-table .highlight-code .microlight')
      await body.waitFor()
      expect(JSON.parse((await body.textContent()) ?? '')).toEqual(TEN)
      expect(requests).toContain(`${url}/api/klines/symbols.json`)
      expect(faults).toEqual([])
    })

    it('a user can be updated from it as it stands', async () => {
      const { page, faults } = await openDocs()
      const operation = page.locator('#operations-UserRPC-updateUser')
      await operation.locator('.opblock-summary-control').click()
      await operation.getByRole('button', { name: 'Try it out' }).click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      const body = operation.locator('.live-responses-table .highlight-code .microlight')
      await body.waitFor()
      expect(JSON.parse((await body.textContent()) ?? '')).toMatchObject({ success: true, notify: 'email' })
      expect(faults).toEqual([])
    })

    it.each([
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
      ['dark', 390],
    ] as const)(
      'is drawn %s and %i wide without a fault, a scroll bar or a request to elsewhere',
      async (colorScheme, width) => {
        const { url, page, faults, requests } = await openDocs({ colorScheme, viewport: { width, height: 800 } })
        // Text: the tests' own types know no DOM.
        const isDark = await page.evaluate("document.documentElement.classList.contains('dark-mode')")
        const paper = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
        const tooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        expect([isDark, Number(paper.match(/\d+/)) < 128]).toEqual([colorScheme === 'dark', colorScheme === 'dark'])
        expect(tooWide).toBe(false)
        expect(faults).toEqual([])
        expect(requests.filter(address => !address.startsWith(`${url}/`) && !address.startsWith('data:'))).toEqual([])
        expect(requests).toEqual(expect.arrayContaining(DOCUMENTS.map(path => url + path)))
      },
    )
  },
)
