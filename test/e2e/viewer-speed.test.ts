import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { cases } from '../support/cases.js'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { servePages } from '../support/servers/served-pages.js'
import { counts, settled } from '../support/viewer.js'

/** The last measured time from the choice of a series to its candles, ms. */
const lastSwitch = (page: Page) =>
  page.evaluate<number>("performance.getEntriesByName('klines:series').at(-1).duration")

/** The series that is panned: the one with most candles. */
const PANNED = '15m'

/** Drags the chart; returns the sorted times between frames, ms. */
async function dragFrames(page: Page): Promise<number[]> {
  const box = (await page.locator('#chart').boundingBox())!
  const visible = () => page.getByRole('link', { name: 'CSV' }).getAttribute('href')
  const before = await visible()
  await page.evaluate(
    `(() => {
      Object.assign(window, { times: [], isDone: false })
      let last = performance.now()
      const note = now => { times.push(now - last); last = now; isDone || requestAnimationFrame(note) }
      requestAnimationFrame(note)
    })()`,
  )
  await page.mouse.move(box.x + 200, box.y + 200)
  await page.mouse.down()
  const moves = cases(60, 12)
  for (let move = 0; move < moves; move++) await page.mouse.move(box.x + 200 + ((move * 40) % 800), box.y + 200)
  await page.mouse.up()
  const frames = await page.evaluate<number[]>('(isDone = true, times)')
  // It did move.
  expect(await visible()).not.toBe(before)
  return frames.slice(1).sort((a, b) => a - b)
}

const text = (frames: number[]) =>
  [0.5, 0.95].map(part => `p${part * 100} ${frames[Math.floor(frames.length * part)].toFixed(0)} ms`).join(', ')

// Times are printed and not compared: a busy machine is slow.
describe.skipIf(!hasChromium || !hasRealTree)('the speed of the chart (skipped without Chromium or the slice)', () => {
  const open = useBrowser()

  it('first candles, switches and panning through all candles of a series', async () => {
    const { page, faults } = await open(`${await servePages(realTree())}/chart/BTCUSDT/1h`)
    await settled(page)
    const firstCandles = "performance.getEntriesByName('klines:series-drawn')[0].startTime"
    const lines = [`first visit: candles ${(await page.evaluate<number>(firstCandles)).toFixed(0)} ms after navigation`]
    await page.reload()
    await settled(page)
    lines.push(`second visit: candles ${(await page.evaluate<number>(firstCandles)).toFixed(0)} ms after navigation`)
    for (const interval of ['4h', '15m', '1h']) {
      await page.getByRole('button', { name: interval, exact: true }).click()
      await settled(page, `BTCUSDT ${interval}`)
      lines.push(`switch to ${interval}: ${(await lastSwitch(page)).toFixed(0)} ms`)
    }
    await page.getByRole('button', { name: PANNED, exact: true }).click()
    await settled(page, `BTCUSDT ${PANNED}`)
    await page.keyboard.press('Home')
    await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
    await settled(page)
    const { candles } = await counts(page)
    expect(candles).toBe(expectedSeries().BTCUSDT[PANNED].rows)
    lines.push(`pan, ${candles} candles, about 170 visible: ${text(await dragFrames(page))}`)
    for (let press = 0; press < 15; press++) await page.keyboard.press('-')
    await settled(page)
    lines.push(`pan, ${candles} candles, thousands visible: ${text(await dragFrames(page))}`)
    console.info(lines.map(line => `chart: ${line}`).join('\n'))
    expect(faults).toEqual([])
  })
})
