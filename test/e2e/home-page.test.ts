import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { oneOf } from '../support/full.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { servePages, usePages } from '../support/servers/served-pages.js'

const newSandbox = useSandboxes()
const field = (page: Page, name: string) => page.locator(`#download-form [name="${name}"]`)
const count = (number: number) => number.toLocaleString('en-US')

describe.skipIf(!hasChromium)('the page at / in Chromium (skipped where it is not installed)', () => {
  const open = useBrowser()
  const sample = usePages(() => SAMPLE_TREE)

  /** Opens the page of a server, or of the sample, and waits until its table is complete. */
  async function openHome(options?: Parameters<typeof open>[1], url = sample()) {
    const opened = await open(`${url}/`, options)
    await opened.page.locator('#survey', { hasText: /\d candles\./ }).waitFor()
    return { url, ...opened }
  }

  it.skipIf(!hasRealTree)('the table has the numbers of an independent program, and leads to the chart', async () => {
    const { url, page, faults } = await openHome({}, await servePages(realTree()))
    const expected = expectedSeries()
    const cells = await page
      .locator('#coverage td a')
      .evaluateAll(links =>
        links.map(link => ['href', 'aria-label', 'data-state'].map(name => link.getAttribute(name))),
      )
    expect(cells).toHaveLength(10 * 12)
    const states = new Map(cells.map(([href, label, state]) => [href, { label, state }]))
    for (const [symbol, intervals] of Object.entries(expected)) {
      for (const [interval, { rows, gaps, missing }] of Object.entries(intervals)) {
        const { label, state } = states.get(`/chart/${symbol}/${interval}`) ?? {}
        expect(label).toContain(`${symbol} ${interval}: ${count(rows)} candles from `)
        expect(state).toBe(gaps > 0 ? 'outages' : 'cached')
        if (missing > 0) expect(label).toMatch(new RegExp(`, ${missing} candles? missing in them$`))
        else expect(label).toMatch(/, no gap$/)
      }
    }
    expect(states.get('/chart/ETHUSDT/1h')).toEqual({ label: 'ETHUSDT 1h: nothing cached', state: 'none' })
    const total = Object.values(expected)
      .flatMap(Object.values)
      .reduce((sum, { rows }) => sum + rows, 0)
    expect(await page.locator('#survey').textContent()).toContain(`${count(total)} candles.`)
    expect(await page.locator('[data-fact="Newest candle"]').textContent()).toBe('2026-04-30 04:00 UTC')
    expect(faults).toEqual([])
    expect(await page.locator('#coverage a[href="/chart/BTCUSDT/1d"]').textContent()).toMatch(/^\d+ (mo|y) old$/)
    await page.locator('#coverage a[href="/chart/BTCUSDT/1d"]').click()
    await page.waitForURL(`${url}/chart/BTCUSDT/1d**`)
  })

  it('the download section offers files and commands for what its form names, and copies a command', async () => {
    const { url, page, faults } = await openHome({ permissions: ['clipboard-read', 'clipboard-write'] })
    await field(page, 'symbol').selectOption('ETHUSDT')
    await field(page, 'interval').selectOption('4h')
    await field(page, 'from').fill('2025-01-01')
    await field(page, 'to').fill('2025-02-01')
    const links = page.locator('#download-links a')
    const targets = await links.evaluateAll(all => all.map(link => link.getAttribute('href')))
    expect(targets).toContain('/export/4h/ETHUSDT.csv?from=2025-01-01&to=2025-02-01')
    expect(targets).toContain('/export/4h/ETHUSDT.parquet?from=2025-01-01&to=2025-02-01')
    for (const target of targets) expect((await fetch(url + target)).status, `${target}`).toBe(200)
    const curl = `curl --fail -o ETHUSDT-4h.csv '${url}/export/4h/ETHUSDT.csv?from=2025-01-01&to=2025-02-01'`
    expect(await page.locator('#download-commands code').allTextContents()).toEqual([
      `klines download ETHUSDT -i 4h --from 2025-01-01 --to 2025-02-01 --base-url ${url} -o ETHUSDT-4h.csv`,
      curl,
    ])
    await page.getByLabel('Copy the curl command').click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(curl)
    expect(faults).toEqual([])
  })

  it('the commands work in a shell, and both files are the same', async () => {
    const sandbox = newSandbox()
    const server = await startServeCommand(sandbox)
    onTestFinished(async () => void (await server.stop()))
    const { page } = await openHome({}, server.url)
    await field(page, 'from').fill('2025-01-01')
    await field(page, 'to').fill('2025-01-03')
    const [klines, curl] = await page.locator('#download-commands code').allTextContents()
    const run = await sandbox.shell(
      `${klines} -q && mv BTCUSDT-1h.csv first.csv && ${curl} -s && cmp first.csv BTCUSDT-1h.csv`,
    )
    expect(run).toMatchObject({ code: 0, stdout: '' })
    expect(sandbox.text('first.csv').split('\n')).toHaveLength(1 + 48 + 1)
  })

  const LOOKS = [
    ['light', 1280],
    ['dark', 390],
  ] as const
  it.each(oneOf(2, LOOKS))(
    '%s, %i pixels wide: no fault, no sideways scrolling, no other host',
    async (colorScheme, width) => {
      const { url, page, faults, requests } = await openHome({ colorScheme, viewport: { width, height: 800 } })
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
      expect(faults).toEqual([])
      expect(requests.filter(address => !address.startsWith(`${url}/`) && !address.startsWith('data:'))).toEqual([])
    },
  )

  it('without scripts the table still leads to the charts', async () => {
    const { page } = await open(`${sample()}/`, { javaScriptEnabled: false })
    const cell = page.locator('#coverage a[href="/chart/BTCUSDT/1h"]')
    expect(await cell.getAttribute('aria-label')).toMatch(/^BTCUSDT 1h: \d+ windows cached$/)
  })
})
