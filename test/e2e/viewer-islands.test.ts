import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { type ServeProcess, startServeCommand } from '../support/servers/serve-command.js'
import { colorsAt, counts, heap, legendRow, pointAt, settled } from '../support/viewer.js'

const [MINUTE, DAY] = [60_000, 86_400_000]
const DAY_CANDLES = 1_440
/** Its midnight is the end of the newest day. */
const END = Date.UTC(2025, 5, 1)
const MAX_HEAP = 300e6
const MAX_MS = 10_000

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)
const rowsOf = (date: string) => {
  const start = Date.parse(date)
  return makeRows('TICKUSDT', '1m', start, start + DAY, [], MINUTE)
}

/** A bare tree with three days of 1m: two at its start and one at its end. Returns them. */
function makeIslands(root: string, days: number): string[] {
  const folder = join(root, 'api/klines/1min/TICKUSDT')
  const lists = join(root, 'api/klines/start-dates')
  for (const path of [folder, lists]) mkdirSync(path, { recursive: true })
  const dates = Array.from({ length: days }, (_, day) => dateOf(END - (days - day) * DAY))
  const cached = [...dates.slice(0, 2), ...dates.slice(-1)]
  for (const date of cached) writeFileSync(join(folder, `${date}.json`), JSON.stringify(rowsOf(date)))
  writeFileSync(join(lists, '1min.json'), JSON.stringify(dates))
  writeFileSync(join(root, 'api/klines/symbols.json'), '["TICKUSDT"]')
  return cached
}

describe.skipIf(!hasChromium).each([730, 3_000])(
  'the chart of two pieces of 1m that are %i days apart (skipped without Chromium)',
  days => {
    const newSandbox = useSandboxes()
    const open = useBrowser()
    let server: ServeProcess
    let root: string
    let cached: string[]
    beforeAll(async () => {
      root = mkdtempSync(join(tmpdir(), 'klines-islands-'))
      cached = makeIslands(root, days)
      server = await startServeCommand(newSandbox(), ['--mirror', root])
    })
    afterAll(async () => {
      await server?.stop()
      rmSync(root, { recursive: true, force: true })
    })

    const status = (page: Page) => page.locator('#status').textContent()

    it('the time between them is crossed in a few screens, fast and below 300 MB', async () => {
      const { page, faults, requests } = await open(`${server.url}/chart/TICKUSDT/1m`)
      await settled(page, 'TICKUSDT 1m')
      const t = performance.now()
      for (let screen = 0; screen < 12; screen++) {
        await page.keyboard.press('Shift+ArrowLeft')
        await settled(page)
      }
      console.log(await heap(page), await status(page), performance.now() - t, faults, requests.length)
      await page.screenshot({ path: '/tmp/wtc/before.png' })
      await page.fill('#day', cached[1]).catch(console.log)
    }, 240_000)

    it('jump', async () => {
      const { page, faults } = await open(`${server.url}/chart/TICKUSDT/1m`)
      await settled(page, 'TICKUSDT 1m')
      await page.locator('input[type=date]').fill(dateOf(END - 100 * DAY))
      await page.keyboard.press('Enter')
      await settled(page)
      console.log(await status(page), faults, await page.locator('#message').textContent())
      await page.screenshot({ path: '/tmp/wtc/jump.png' })
    }, 240_000)
  },
)
