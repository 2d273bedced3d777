import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { usePages } from '../support/servers/served-pages.js'
import { counts, heap, legendRow, requestedWindows, settled, visibleRange } from '../support/viewer.js'

const [MINUTE, DAY] = [60_000, 86_400_000]
const START = Date.UTC(2024, 0, 1)
/** More than the page may keep, 150,000 candles at most: those of 104 days. */
const DAYS = 120
const NEWEST = new Date(START + (DAYS - 1) * DAY).toISOString().slice(0, 10)
/** The whole page, its script and the candles that it keeps. */
const MAX_HEAP = 300e6

/** A bare tree with 120 days of 1m: 1,440 candles a day, a day a window. */
function makeTree(root: string): void {
  const folder = join(root, 'api/klines/1min/TICKUSDT')
  const lists = join(root, 'api/klines/start-dates')
  for (const path of [folder, lists]) mkdirSync(path, { recursive: true })
  const dates = Array.from({ length: DAYS }, (_, day) => new Date(START + day * DAY).toISOString().slice(0, 10))
  for (const date of dates) writeFileSync(join(folder, `${date}.json`), JSON.stringify(dayRows(date)))
  writeFileSync(join(lists, '1min.json'), JSON.stringify(dates))
  writeFileSync(join(root, 'api/klines/symbols.json'), '["TICKUSDT"]')
}

const dayRows = (date: string) => {
  const start = Date.parse(date)
  return makeRows('TICKUSDT', '1m', start, start + DAY, [], MINUTE)
}

/** The length of the visible time, ms. */
async function visibleMs(page: Page): Promise<number> {
  const { from, to } = await visibleRange(page)
  return to - from
}

describe.skipIf(!hasChromium)('the chart of 120 days of 1m (skipped without Chromium)', () => {
  const open = useBrowser()
  const root = mkdtempSync(join(tmpdir(), 'klines-minutes-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  beforeAll(() => makeTree(root))
  const url = usePages(() => root)

  it('drops windows far from the screen and loads them again, below 300 MB', async () => {
    const { page, faults, requests } = await open(`${url()}/chart/TICKUSDT/1m`)
    await settled(page, 'TICKUSDT 1m')
    expect(await legendRow(page)).toEqual(dayRows(NEWEST).at(-1)?.map(String))
    // More than 10,000 candles on a screen.
    for (let round = 0; round < 20 && (await visibleMs(page)) < 14 * DAY; round++) {
      for (let press = 0; press < 3; press++) await page.keyboard.press('-')
      await settled(page)
    }
    const sizes: number[] = []
    const first = () => page.locator('#status').textContent()
    for (let screen = 0; screen < 60; screen++) {
      await page.keyboard.press('Shift+ArrowLeft')
      await settled(page)
      expect((await counts(page)).candles).toBeLessThanOrEqual(150_000)
      if (screen % 8 === 0) sizes.push(await heap(page))
      if ((await first())?.includes('from 2024-01-01 00:00')) break
    }
    expect(await first()).toContain('from 2024-01-01 00:00')
    expect(requestedWindows(requests, 'TICKUSDT', '1min')).toHaveLength(DAYS)
    sizes.push(await heap(page))
    console.info(`chart of 1m: heap ${sizes.map(size => `${Math.round(size / 1e6)} MB`).join(', ')}`)
    expect(Math.max(...sizes)).toBeLessThan(MAX_HEAP)
    const newest = () => requests.filter(url => url.endsWith(`/${NEWEST}.json`)).length
    expect(newest()).toBe(1)
    await page.keyboard.press('End')
    await settled(page)
    expect(newest()).toBe(2)
    expect(await legendRow(page)).toEqual(dayRows(NEWEST).at(-1)?.map(String))
    expect((await counts(page)).missing).toBe(0)
    expect(await heap(page)).toBeLessThan(MAX_HEAP)
    expect(faults).toEqual([])
  })

  it('has buttons for minutes where the mirror has them', async () => {
    const { page } = await open(`${url()}/chart/TICKUSDT/1m`)
    await settled(page, 'TICKUSDT 1m')
    const shown = await page.locator('#intervals button:visible').allTextContents()
    expect(shown.slice(0, 3)).toEqual(['1m', '15m', '30m'])
  })
})
