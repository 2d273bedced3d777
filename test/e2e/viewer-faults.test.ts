import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { DAY_MS } from '../../src/candles/intervals.js'
import { formatDate } from '../../src/candles/windows.js'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { HOURS, makeOffGridTree } from '../support/off-grid-tree.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { servePages, usePages } from '../support/servers/served-pages.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  makeTree,
  OPEN_WEEK,
  putFile,
  type Row,
  START_DATES,
  treeRows,
  weekPath,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { counts, legendRow, pointAt, requestedWindows, settled } from '../support/viewer.js'

const QUARTER = 900_000
const message = (page: Page) => page.locator('#message-text')
const choices = (page: Page) => page.locator('#message-choices a').allTextContents()
const texts = (row: Row | undefined) => row?.map(String)

/** A 15m candle of one price range. */
function candle(openTime: number, open: string, high: string, low: string, close: string): Row {
  return [openTime, open, high, low, close, '1.0', openTime + QUARTER - 1, '1.0', 1, '0.5', '0.5', '0']
}

describe.skipIf(!hasChromium)('the chart of what is missing or wrong (skipped without Chromium)', () => {
  const newSandbox = useSandboxes()
  const open = useBrowser()

  const root = mkdtempSync(join(tmpdir(), 'klines-faults-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const tree = usePages(() => makeTree(root))

  /** Serves a folder and opens a chart of it. */
  const serveChart = async (root: string, path: string) => open((await servePages(root)) + path)

  /** Opens a chart of the command with an upstream service. */
  async function serveUpstream(path: string, tree?: string) {
    const sandbox = newSandbox()
    const service = await startTreeServer(sandbox, tree)
    const server = await startServeCommand(sandbox, ['--mirror', 'm', '--base-url', service.url, '--upstream'])
    onTestFinished(async () => void (await server.stop()))
    return { service, ...(await open(server.url + path)) }
  }

  it('a missing window is a band of its own, and counted apart; no request for it', async () => {
    const root = makeTree(tempFolder())
    rmSync(join(root, weekPath('BTCUSDT', FULL_WEEKS[2])))
    const { page, faults, requests } = await serveChart(root, '/chart/BTCUSDT/15m?from=2025-01-19&to=2025-01-28')
    await settled(page)
    await pointAt(page, 0.5)
    expect(await page.locator('#legend-title').textContent()).toContain('window not in this mirror')
    await pointAt(page, 0.05)
    expect(await page.locator('#legend-title').textContent()).toContain('no candle')
    await page.keyboard.press('Home')
    await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
    const run = await newSandbox().call(['verify', 'BTCUSDT', '-i', '15m', '--json', '--mirror', root])
    const { totals } = JSON.parse(run.stdout)
    expect(await counts(page)).toEqual({
      candles: totals.candles,
      missing: totals.missingCandles,
      missingWindows: 1,
    })
    expect(await page.locator('#status').textContent()).toContain('1 window not in this mirror')
    expect(requestedWindows(requests, 'BTCUSDT', '15m').filter(url => url.includes(FULL_WEEKS[2]))).toEqual([])
    expect(faults).toEqual([])
  })

  // Symbols, then as many intervals.
  const ABSENT: [string, unknown, string[]][] = [
    ['/chart/XXXUSDT/15m', 'This mirror has no symbol XXXUSDT.', ['BTCUSDT', 'ETHUSDT']],
    ['/chart/..%2f..%2fx/1h', expect.stringContaining('is not a symbol'), ['BTCUSDT', 'ETHUSDT']],
    ['/chart/%3Cb%3Ex/15m', expect.stringContaining('“<B>X” is not a symbol'), ['BTCUSDT', 'ETHUSDT']],
    [
      '/chart/BTCUSDT/1h',
      'This mirror has no 1h candles of BTCUSDT. Download them with: klines download BTCUSDT -i 1h',
      ['15m'],
    ],
    [
      '/chart/BTCUSDT/1m',
      'This mirror has no 1m candles of BTCUSDT. Only the exchange has them: klines download BTCUSDT -i 1m --base-url binance',
      ['15m'],
    ],
    [
      '/chart/BTCUSDT/15M',
      'There is no interval “15M”. Did you mean 15m? This mirror has candles of BTCUSDT:',
      ['15m'],
    ],
  ]
  it.each(ABSENT)('%s: a message with what there is, and no failed request', async (path, text, links) => {
    const { page, faults } = await open(tree() + path)
    await message(page).waitFor()
    expect(await message(page).textContent()).toEqual(text)
    expect(await choices(page)).toEqual(links)
    await page.locator('#message-choices a').first().click()
    await settled(page)
    expect(faults).toEqual([])
  })

  const NO_CANDLES = 'There are no candles in the time of this address'
  // What is no range, then as many ranges without candles.
  const QUERIES = [
    ['from=banana', '"banana" is not a point in time. Expected YYYY, '],
    ['from=2024-02-31', '"2024-02-31" is not a point in time. There is no such day. '],
    ['from=2025-01-08&to=2025-01-07', 'The range is empty: from 2025-01-08T00:00:00.000Z to 2025-01-07'],
    ['from=2019-01-01&to=2019-01-02', NO_CANDLES],
    ['from=2035-01-01&to=2035-01-02', NO_CANDLES],
    ['to=2019', NO_CANDLES],
  ]
  it.each(QUERIES)('?%s: candles with a message', async (query, text) => {
    const { page, faults } = await open(`${tree()}/chart/BTCUSDT/15m?${query}`)
    await settled(page)
    await message(page).waitFor()
    expect(await message(page).textContent()).toContain(text)
    expect((await counts(page)).candles).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await message(page).isVisible()).toBe(false)
    await page.getByLabel('Jump to a day').fill('2025-01-14')
    await page.waitForURL(/from=2025-01-14T00:00Z/)
    expect(await message(page).isVisible()).toBe(false)
    expect(faults).toEqual([])
  })

  it('--upstream: the newest window with candles is found; a limit is waited for; a failure keeps what is loaded, and can be retried', async () => {
    const { service, page, faults } = await serveUpstream('/chart/ETHUSDT/15m')
    await settled(page)
    const rows = treeRows('ETHUSDT')
    expect(await legendRow(page)).toEqual(texts(rows.get(OPEN_WEEK)?.at(-1)))
    const before = await counts(page)
    expect(faults).toEqual([])
    const path = weekPath('ETHUSDT', FULL_WEEKS[0])
    service.script(path, { status: 429, headers: { 'retry-after': '2' } }, { status: 500 }, { status: 500 })
    await page.keyboard.press('Home')
    await page.getByText(/^The service limits requests: trying again in [12] s/).waitFor()
    await message(page).waitFor()
    expect(await message(page).textContent()).toContain('The service behind this server failed')
    expect((await counts(page)).candles).toBeGreaterThanOrEqual(before.candles)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('#status', { hasText: 'all there are' }).waitFor()
    await settled(page)
    expect((await counts(page)).candles).toBe([...rows.values()].flat().length)
    const downloaded = service.paths('windows').filter(name => name.includes('ETHUSDT') && name !== path)
    expect(new Set(downloaded).size).toBe(downloaded.length)
  })

  it('--upstream: Home shows the first candles of a symbol that was listed long after the first window', async () => {
    const root = makeTree(tempFolder())
    // More candles than are loaded to show the first ones.
    const early = Array.from({ length: 120 }, (_, week) => formatDate(Date.parse(EMPTY_WEEK) - (week + 1) * 7 * DAY_MS))
    putFile(root, 'api/klines/start-dates/15m.json', [...early.toReversed(), ...START_DATES])
    for (const date of early) putFile(root, weekPath('ETHUSDT', date), [])
    const { page, faults } = await serveUpstream('/chart/ETHUSDT/15m', root)
    await settled(page)
    await page.keyboard.press('Home')
    await page.locator('#status', { hasText: `from ${FULL_WEEKS[0]}` }).waitFor()
    await settled(page)
    await pointAt(page, 0)
    expect(await legendRow(page)).toEqual(texts(treeRows('ETHUSDT').get(FULL_WEEKS[0])?.[0]))
    expect(await message(page).isVisible()).toBe(false)
    expect(faults).toEqual([])
  })

  it('--upstream: a symbol that the service lacks', async () => {
    const { page } = await serveUpstream('/chart/XXXUSDT/15m')
    await message(page).waitFor()
    expect(await message(page).textContent()).toBe('The service of this server has no symbol XXXUSDT.')
  })

  it('candles off the grid are drawn where they are, and counted as verify counts', async () => {
    const root = makeOffGridTree(tempFolder())
    const { page, faults } = await serveChart(root, '/chart/BTCUSDT/1h')
    await settled(page)
    await page.keyboard.press('Home')
    await settled(page)
    const run = await newSandbox().call(['verify', 'BTCUSDT', '-i', '1h', '--json', '--mirror', root])
    const { totals } = JSON.parse(run.stdout)
    expect(await counts(page)).toMatchObject({ candles: HOURS.length, missing: totals.missingCandles })
    await page.goto(`${page.url().split('?')[0]}?from=2018-02-09T09:28:14.789Z&to=2018-02-10`)
    await settled(page)
    await pointAt(page, 0)
    expect((await legendRow(page))[0]).toBe(String(Date.parse('2018-02-09T09:28:14.789Z')))
    expect(faults).toEqual([])
  })

  const START = Date.parse(FULL_WEEKS[0])
  const ODD_ROWS: [string, Row[]][] = [
    ['one candle', [candle(START, '5.25', '5.5', '5.0', '5.25')]],
    [
      'equal prices',
      Array.from({ length: 30 }, (_, index) => candle(START + index * QUARTER, '7.00', '7.00', '7.00', '7.00')),
    ],
    [
      'prices from 1e-8 to 1e5',
      [
        candle(START, '0.00000001', '0.00000002', '0.00000001', '0.00000002'),
        candle(START + QUARTER, '0.00000002', '100000.0', '0.00000001', '100000.0'),
      ],
    ],
  ]
  it.each(ODD_ROWS)('%s', async (_, rows) => {
    const root = makeTree(tempFolder())
    putFile(root, weekPath('ODDUSDT', FULL_WEEKS[0]), rows)
    const { page, faults } = await serveChart(root, '/chart/ODDUSDT/15m?log=1')
    await settled(page)
    expect(await legendRow(page)).toEqual(texts(rows.at(-1)))
    await page.getByLabel('Log').uncheck()
    for (const key of ['Home', 'End', '+', '-']) await page.keyboard.press(key)
    await settled(page)
    expect(await counts(page)).toEqual({ candles: rows.length, missing: 0, missingWindows: 0 })
    expect(faults).toEqual([])
  })
})
