import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { Random } from '../support/random.js'
import { usePages } from '../support/servers/served-pages.js'
import { COLUMNS, colorsAt, counts, legendRow, pointAt, requestedWindows, settled } from '../support/viewer.js'

const HOUR = 3_600_000
/** Length of the intervals whose candles are picked. */
const LENGTHS: Record<string, number> = {
  '15m': HOUR / 4,
  '1h': HOUR,
  '2h': 2 * HOUR,
  '1d': 24 * HOUR,
  '1w': 168 * HOUR,
}

/** The texts of every candle of a series, read without a JSON parser, so that no digit can change. */
function fileRows(symbol: string, interval: string): string[][] {
  const folder = join(realTree(), 'api/klines', interval, symbol)
  return readdirSync(folder)
    .sort()
    .flatMap(name => [...readFileSync(join(folder, name), 'utf8').matchAll(/\[([^[\]]+)\]/g)])
    .map(([, row]) => row.split(',').map(cell => cell.trim().replaceAll('"', '')))
}

describe.skipIf(!hasChromium || !hasRealTree)(
  'the chart of real candles (skipped without Chromium or the slice)',
  () => {
    const newSandbox = useSandboxes()
    const open = useBrowser()
    const url = usePages(realTree)

    /** Opens the chart and waits until it is drawn. */
    async function openChart(path: string, options?: Parameters<typeof open>[1]) {
      const opened = await open(`${url()}${path}`, options)
      await settled(opened.page)
      return opened
    }

    /** Each window of BTCUSDT was loaded once. */
    async function expectWhole(page: Page, requests: readonly string[], interval: string): Promise<void> {
      const { rows, missing, nonEmptyWindows } = expectedSeries().BTCUSDT[interval]
      expect(await counts(page)).toMatchObject({ candles: rows, missing })
      const windows = requestedWindows(requests, 'BTCUSDT', interval)
      expect(windows).toHaveLength(nonEmptyWindows)
      expect(new Set(windows).size).toBe(nonEmptyWindows)
    }

    it('shows the newest candle with the exact text of all columns, and requests nothing else', async () => {
      const { page, faults, requests } = await openChart('/chart/BTCUSDT/1h')
      expect(await legendRow(page)).toEqual(fileRows('BTCUSDT', '1h').at(-1))
      expect(await page.locator('#legend-title').textContent()).toMatch(
        /^BTCUSDT 1h Thu, 30 Apr 2026, 03:00 UTC \+0\.30 %$/,
      )
      expect(await page.title()).toContain('BTCUSDT 1h')
      expect(await page.locator('#attribution').textContent()).toMatch(
        /TradingView Lightweight Charts™\s+Copyright \(c\) 2025/,
      )
      expect(faults).toEqual([])
      expect(requests.filter(address => !address.startsWith(`${url()}/`))).toEqual([])
    })

    it('/chart alone shows BTCUSDT 1d; a symbol alone and in lower case its 1d', async () => {
      const { page, faults } = await openChart('/chart')
      await page.waitForURL(`${url()}/chart/BTCUSDT/1d`)
      await page.goto(`${url()}/chart/adausdt`)
      await settled(page, 'ADAUSDT 1d')
      expect(await legendRow(page)).toEqual(fileRows('ADAUSDT', '1d').at(-1))
      expect(faults).toEqual([])
    })

    it('the legend has the text of the file for candles all over the slice', async () => {
      const random = new Random(14)
      const { page, faults } = await openChart('/chart')
      for (let pick = 0; pick < 5; pick++) {
        const [symbol, interval] = [random.pick(['BTCUSDT', 'ADAUSDT', 'DOTUSDT']), random.pick(Object.keys(LENGTHS))]
        const rows = fileRows(symbol, interval)
        const row = rows[random.below(rows.length)]
        const from = Number(row[0])
        const query = `from=${new Date(from).toISOString()}&to=${new Date(from + 40 * LENGTHS[interval]).toISOString()}`
        await page.goto(`${url()}/chart/${symbol}/${interval}?${query}`)
        await settled(page, `${symbol} ${interval}`)
        await pointAt(page, 0)
        expect(await legendRow(page), page.url()).toEqual(row)
      }
      expect(faults).toEqual([])
    })

    it('an outage is a band that says "no candle"; the footer counts what `klines verify` counts', async () => {
      const { page, faults, requests } = await openChart('/chart/BTCUSDT/2h?from=2018-02-07&to=2018-02-11')
      const [paper, gap] = await colorsAt(page, 0.1, 0.4)
      expect(gap).not.toEqual(paper)
      // Amber: less blue than red.
      expect(gap[0] - gap[2]).toBeGreaterThan(30)
      await pointAt(page, 0.4)
      expect(await page.locator('#legend-title').textContent()).toContain('no candle')
      expect(await legendRow(page)).toEqual(COLUMNS.map(() => '–'))
      await page.keyboard.press('Home')
      await page.locator('#status', { hasText: 'from 2017-08-17 04:00' }).waitFor()
      await page.keyboard.press('End')
      await page.locator('#status', { hasText: 'to 2026-04-30 02:00' }).waitFor()
      await page.keyboard.press('Home')
      await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
      const run = await newSandbox().call(['verify', 'BTCUSDT', '-i', '2h', '--json', '--mirror', realTree()])
      const { totals } = JSON.parse(run.stdout)
      expect(await counts(page)).toEqual({ candles: totals.candles, missing: totals.missingCandles, missingWindows: 0 })
      expect(totals.missingCandles).toBe(53)
      await expectWhole(page, requests, '2h')
      expect(faults).toEqual([])
    })

    it('Home loads each window once, up to the listing', async () => {
      const { page, faults, requests } = await openChart('/chart/BTCUSDT/1d')
      for (const interval of ['15m', '3d', '1M']) {
        await page.getByRole('button', { name: interval, exact: true }).click()
        await settled(page, `BTCUSDT ${interval}`)
        await page.locator('#chart').focus()
        await page.keyboard.press('Home')
        await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
        await settled(page)
        await expectWhole(page, requests, interval)
      }
      expect(faults).toEqual([])
    })
  },
)
