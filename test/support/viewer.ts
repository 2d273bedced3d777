import type { Page } from 'playwright-core'

/** The columns of a window file, in order, as the legend names them. */
export const COLUMNS =
  'open_time open high low close volume close_time quote_volume count taker_buy_volume taker_buy_quote_volume ignore'.split(
    ' ',
  )

/** Waits until the chart shows a series and loads nothing more. */
export async function settled(page: Page, name?: string): Promise<void> {
  await page.locator('#chart[aria-busy="false"]').waitFor()
  if (name !== undefined) await page.locator('#legend-series').filter({ hasText: name }).waitFor()
  await page.locator('#status', { hasText: 'candle' }).waitFor()
  await page.locator('#symbols option').first().waitFor({ state: 'attached' })
  // What comes into view is loaded in the next frames.
  await page.evaluate(
    `new Promise(resolve => {
      let calm = 0
      const look = () => {
        calm = document.querySelector('#chart').ariaBusy === 'false' ? calm + 1 : 0
        calm > 5 ? resolve() : requestAnimationFrame(look)
      }
      look()
    })`,
  )
}

/** The legend's text of all columns, in the order of a file. */
export async function legendRow(page: Page): Promise<string[]> {
  const cells = await Promise.all(COLUMNS.map(name => page.locator(`[data-column="${name}"]`).textContent()))
  return cells.map(String)
}

/** What the footer counts. */
export async function counts(page: Page): Promise<{ candles: number; missing: number; missingWindows: number }> {
  const text = String(await page.locator('#status').textContent()).replaceAll(',', '')
  const count = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0)
  return {
    candles: count(/^(\d+) candle/),
    missing: count(/(\d+) missing/),
    missingWindows: count(/(\d+) windows? not in this mirror/),
  }
}

/** Moves the mouse over the chart: `part` of its width from the left, without the price axis. */
export async function pointAt(page: Page, part: number): Promise<{ x: number; y: number }> {
  const box = (await page.locator('#chart canvas').first().boundingBox())!
  const point = { x: box.x + Math.max(3, box.width * part), y: box.y + box.height * 0.3 }
  await page.mouse.move(point.x, point.y)
  // The legend follows in the next frame.
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  return point
}

/** The colours of the chart at parts of its width, at its upper edge, as `[red, green, blue]`. */
export async function colorsAt(page: Page, ...parts: number[]): Promise<number[][]> {
  return page.evaluate<number[][]>(
    `(() => {
      const canvas = document.querySelector('#chart canvas')
      const { data } = canvas.getContext('2d').getImageData(0, 4, canvas.width, 1)
      return ${JSON.stringify(parts)}.map(part => {
        const start = Math.round(canvas.width * part) * 4
        return [...data.slice(start, start + 3)]
      })
    })()`,
  )
}

/** The requested windows of a series, in order of time. */
export function requestedWindows(requests: readonly string[], symbol: string, interval: string): string[] {
  const prefix = `/api/klines/${interval}/${symbol}/`
  return requests.filter(url => url.includes(prefix)).sort()
}
