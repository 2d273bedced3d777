import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { FittedCandles } from '../../../src/chart/candle-fitter.js'
import { drawSvg } from '../../../src/chart/svg/draw-svg.js'
import { DEFAULT_PICTURE, maxCandles, type PictureOptions } from '../../../src/chart/svg/layout.js'
import { daily } from '../../support/chart-series.js'
import { hasChromium, useBrowser } from '../../support/chromium.js'
import { tempFolder } from '../../support/temp-folder.js'

/** It has to be escaped in XML. */
const ODD_SERIES = { symbol: `A&B<C>"D'E]]>é`, interval: '1d' }

/** As many days as fit into a picture of that width, with high prices, so that texts are long; every tenth is missing. */
function manyDays(width: number): FittedCandles {
  return daily(
    Array.from({ length: maxCandles({ width }) }, (_, day) => {
      const open = 100_000 + ((day * 7919) % 20_000)
      const candle = { open, high: open + 3000, low: open - 2000, close: open + 500 - ((day * 31) % 1000), volume: day }
      return day % 10 === 5 ? undefined : candle
    }),
  )
}

const SMALL_PRICE = '0.00001234'
/** Prices from 1e-8 to 1e5. */
const EXTREMES: FittedCandles = (() => {
  const days = daily(Array.from({ length: 30 }, () => ({ open: 1, high: 1, low: 1, close: 1, volume: 1 })))
  const slots = days.slots.map(({ openTime }, index) => {
    const price = index < 10 ? '0.00000001' : index < 20 ? SMALL_PRICE : '100000.00000000'
    return { openTime, candle: { openTime, open: price, high: price, low: price, close: price, volume: price } }
  })
  return { ...days, slots }
})()

function writePicture(fitted: FittedCandles, options: Partial<PictureOptions>): string {
  const path = join(tempFolder(), 'picture.svg')
  writeFileSync(path, drawSvg(fitted, { ...DEFAULT_PICTURE, ...options }) ?? '')
  return path
}

describe.skipIf(!hasChromium)('a picture in Chromium (skipped where it is not installed)', () => {
  const open = useBrowser()

  const PICTURES: [string, FittedCandles, Partial<PictureOptions>][] = [
    ['a small picture', { ...manyDays(400), series: ODD_SERIES }, { width: 400, height: 240, theme: 'dark' }],
    ['a wide picture', manyDays(2400), { width: 2400, height: 1000 }],
    ['prices from 1e-8 to 1e5 on a logarithmic axis', EXTREMES, { log: true, width: 500 }],
  ]
  it.each(PICTURES)('has no text that is cut off or touches another one: %s', async (_, fitted, options) => {
    const { page, faults, requests } = await open(String(pathToFileURL(writePicture(fitted, options))))
    expect(faults).toEqual([])
    expect(requests).toHaveLength(1)
    expect(await page.locator(':root').evaluate(element => element.nodeName)).toBe('svg')
    expect(await page.locator('parsererror').count()).toBe(0)
    const boxes = await page.locator('text').evaluateAll(elements =>
      elements.map(element => {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        return { text: element.textContent, left, right, top, bottom }
      }),
    )
    expect(boxes.length).toBeGreaterThan(5)
    const name = `${fitted.series.symbol} 1d`
    expect([boxes[0].text, await page.title()]).toEqual([expect.stringContaining(name), `${name} candles`])
    const { width, height } = { ...DEFAULT_PICTURE, ...options }
    for (const [index, box] of boxes.entries()) {
      expect(box.left, box.text).toBeGreaterThanOrEqual(0)
      expect(box.right, box.text).toBeLessThanOrEqual(width)
      expect(box.bottom, box.text).toBeLessThanOrEqual(height)
      const touching = boxes.slice(index + 1).filter(other => {
        return (
          box.left < other.right && other.left < box.right && box.top + 2 < other.bottom && other.top + 2 < box.bottom
        )
      })
      expect(touching, box.text).toEqual([])
    }
  })
})
