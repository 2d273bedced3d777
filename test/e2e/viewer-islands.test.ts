import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { servePages, usePages } from '../support/servers/served-pages.js'
import { tempFolder } from '../support/temp-folder.js'
import { counts, heap, legendRow, pointAt, requestedWindows, settled, visibleRange } from '../support/viewer.js'

const [MINUTE, DAY] = [60_000, 86_400_000]
const DAY_CANDLES = 1_440
/** Its midnight is the end of the newest day. */
const END = Date.UTC(2025, 5, 1)
const MAX_HEAP = 300e6
const MAX_MS = 20_000

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)
/** `1 Jun 2023`, as the legend writes it. */
const textOf = (date: string) =>
  new Date(date).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const rowsOf = (date: string) => {
  const start = Date.parse(date)
  return makeRows('TICKUSDT', '1m', start, start + DAY, [], MINUTE)
}

/**
 * A bare tree with three days of 1m, two at its start and one at its end, and with all of 1d. Returns the days.
 * With `areEmpty`, the windows between them are there, without rows.
 */
function makeIslands(root: string, days: number, { areEmpty = false } = {}): string[] {
  const folder = join(root, 'api/klines/1min/TICKUSDT')
  const daily = join(root, 'api/klines/1d/TICKUSDT')
  const lists = join(root, 'api/klines/start-dates')
  for (const path of [folder, daily, lists]) mkdirSync(path, { recursive: true })
  const dates = Array.from({ length: days }, (_, day) => dateOf(END - (days - day) * DAY))
  const cached = [...dates.slice(0, 2), ...dates.slice(-1)]
  for (const date of cached) writeFileSync(join(folder, `${date}.json`), JSON.stringify(rowsOf(date)))
  if (areEmpty) for (const date of dates.slice(2, -1)) writeFileSync(join(folder, `${date}.json`), '[]')
  writeFileSync(join(lists, '1min.json'), JSON.stringify(dates))
  const years = [2016, 2018, 2020, 2022, 2024]
  for (const year of years) {
    const end = Math.min(END, Date.UTC(year + 2, 0))
    const rows = makeRows('TICKUSDT', '1d', Date.UTC(year, 0), end, [], DAY)
    writeFileSync(join(daily, `${year}-01-01.json`), JSON.stringify(rows))
  }
  writeFileSync(join(lists, '1d.json'), JSON.stringify(years.map(year => `${year}-01-01`)))
  writeFileSync(join(root, 'api/klines/symbols.json'), '["TICKUSDT"]')
  return cached
}

describe.skipIf(!hasChromium).each([730, 3_000])(
  'the chart of two pieces of 1m that are %i days apart (skipped without Chromium)',
  days => {
    const open = useBrowser()
    const root = mkdtempSync(join(tmpdir(), 'klines-islands-'))
    afterAll(() => rmSync(root, { recursive: true, force: true }))
    let cached: string[]
    beforeAll(() => {
      cached = makeIslands(root, days)
    })
    const url = usePages(() => root)

    const status = (page: Page) => page.locator('#status').textContent()

    it('the time between them is a band that is crossed in a few screens, fast and below 300 MB', async () => {
      const { page, faults, requests } = await open(`${url()}/chart/TICKUSDT/1m`)
      await settled(page, 'TICKUSDT 1m')
      expect(await status(page)).toBe(`1,440 candles from ${cached[2]} 00:00 to ${cached[2]} 23:59 UTC, 0 missing`)
      const started = performance.now()
      for (let screen = 0; screen < 12; screen++) {
        await page.keyboard.press('Shift+ArrowLeft')
        await settled(page)
      }
      await page.keyboard.press('Home')
      await settled(page)
      expect(performance.now() - started).toBeLessThan(MAX_MS)
      expect(await heap(page)).toBeLessThan(MAX_HEAP)
      expect(await counts(page)).toEqual({ candles: 3 * DAY_CANDLES, missing: 0, missingWindows: days - 3 })
      expect(await status(page)).toBe(
        `4,320 candles from ${cached[0]} 00:00 to ${cached[2]} 23:59 UTC, 0 missing · ${(days - 3).toLocaleString('en-US')} windows not in this mirror · all in this mirror`,
      )
      await pointAt(page, 0)
      expect(await legendRow(page)).toEqual(rowsOf(cached[0])[0].map(String))
      expect(requestedWindows(requests, 'TICKUSDT', '1min')).toHaveLength(3)
      expect(faults).toEqual([])
    })

    it('both ends of it and its middle have the right times; another interval shows as many candles as there were places', async () => {
      const { page, faults } = await open(`${url()}/chart/TICKUSDT/1m?from=${cached[1]}T23:00Z&to=${cached[2]}T01:00Z`)
      await settled(page, 'TICKUSDT 1m')
      expect(await counts(page)).toMatchObject({ missing: 0, missingWindows: days - 3 })
      // 60 candles, 500 places, 60 candles.
      await pointAt(page, 0.05)
      expect(await page.locator('#legend-time').textContent()).toMatch(
        new RegExp(`${textOf(cached[1])}, 23:\\d\\d UTC`),
      )
      await pointAt(page, 0.95)
      expect(await page.locator('#legend-time').textContent()).toMatch(
        new RegExp(`${textOf(cached[2])}, 00:\\d\\d UTC`),
      )
      await pointAt(page, 0.5)
      expect(await page.locator('#legend-change').textContent()).toBe('window not in this mirror')
      const middle = (Date.parse(cached[1]) + Date.parse(cached[2])) / 2
      const shown = Date.parse((await page.locator('#legend-time').textContent())!)
      expect(Math.abs(shown - middle)).toBeLessThan((days * DAY) / 50)
      await page.getByRole('button', { name: '1d', exact: true }).click()
      await settled(page, 'TICKUSDT 1d')
      const { from, to } = await visibleRange(page)
      // 60 minutes, 500 places, 60 minutes.
      expect((to - from) / DAY).toBeGreaterThan(600)
      expect((to - from) / DAY).toBeLessThan(640)
      expect(Math.abs((from + to) / 2 - middle)).toBeLessThan((days * DAY) / 50)
      expect(faults).toEqual([])
    })

    it('a jump into it shows its nearer end', async () => {
      const { page, faults } = await open(`${url()}/chart/TICKUSDT/1m`)
      await settled(page, 'TICKUSDT 1m')
      const day = page.getByLabel('Jump to a day')
      for (const [date, side, part] of [
        [dateOf(END - days * DAY + 10 * DAY), cached[1], 0.2],
        [dateOf(END - 10 * DAY), cached[2], 0.8],
      ] as const) {
        await day.fill(date)
        await settled(page)
        expect(await page.locator('#message').textContent()).toContain(
          'There are no candles then; these are the nearest.',
        )
        await pointAt(page, part)
        expect(await page.locator('#legend-time').textContent()).toContain(textOf(side))
        await pointAt(page, 1 - part)
        expect(await page.locator('#legend-change').textContent()).toBe('window not in this mirror')
      }
      expect(faults).toEqual([])
    })
  },
)

describe.skipIf(!hasChromium)('the chart of 1m with windows without candles (skipped without Chromium)', () => {
  const open = useBrowser()

  it('a jump to one that is far from candles shows the newest', async () => {
    const root = tempFolder()
    const cached = makeIslands(root, 60, { areEmpty: true })
    const { page, faults } = await open(`${await servePages(root)}/chart/TICKUSDT/1m`)
    await settled(page, 'TICKUSDT 1m')
    await page.getByLabel('Jump to a day').fill(dateOf(END - 30 * DAY))
    await settled(page)
    expect(await page.locator('#message').textContent()).toContain('There are no candles then; these are the nearest.')
    await pointAt(page, 0.5)
    expect(await page.locator('#legend-time').textContent()).toContain(textOf(cached[2]))
    expect(faults).toEqual([])
  })
})
