import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { deferred } from '../support/deferred.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { usePages } from '../support/servers/served-pages.js'
import { colorsAt, counts, legendRow, requestedWindows, settled } from '../support/viewer.js'

const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
const isDark = (color: string) => Number(color.match(/\d+/)) < 128

describe.skipIf(!hasChromium)('the controls of the chart, over the sample (skipped without Chromium)', () => {
  const open = useBrowser()
  const url = usePages(() => SAMPLE_TREE)

  async function openChart(path: string, options?: Parameters<typeof open>[1]) {
    const opened = await open(`${url()}${path}`, options)
    await settled(opened.page)
    return opened
  }

  const pathOf = (page: Page) => new URL(page.url()).pathname
  const query = (page: Page) => new URL(page.url()).searchParams

  it('another interval, another symbol, back and forward; what was loaded is not loaded again', async () => {
    const { page, faults, requests } = await openChart('/chart/BTCUSDT/1h')
    await page.getByRole('button', { name: '4h', exact: true }).click()
    await settled(page, 'BTCUSDT 4h')
    await page.getByRole('combobox', { name: 'Symbol' }).fill('eth')
    await page.getByRole('option', { name: 'ETHUSDT', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await settled(page, 'ETHUSDT 4h')
    expect(pathOf(page)).toBe('/chart/ETHUSDT/4h')
    const ether = await legendRow(page)
    await page.goBack()
    await settled(page, 'BTCUSDT 4h')
    expect(await legendRow(page)).not.toEqual(ether)
    await page.goBack()
    await settled(page, 'BTCUSDT 1h')
    expect(await page.getByRole('button', { pressed: true }).textContent()).toBe('1h')
    await page.goForward()
    await settled(page, 'BTCUSDT 4h')
    for (const interval of ['1h', '4h']) {
      const windows = requestedWindows(requests, 'BTCUSDT', interval)
      expect(new Set(windows).size).toBe(windows.length)
    }
    expect(faults).toEqual([])
  })

  it('two fast switches end with the last one, and mix nothing', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1h')
    // The answer to the first switch comes after the candles of the second one.
    const late = deferred()
    await page.route('**/coverage/4h/**', async route => {
      const response = await route.fetch()
      await page.locator('#legend-series', { hasText: '1d' }).waitFor()
      await route.fulfill({ response }).catch(() => {})
      late.resolve()
    })
    await page.getByRole('button', { name: '4h', exact: true }).click()
    await page.getByRole('button', { name: '1d', exact: true }).click()
    await late.promise
    await settled(page, 'BTCUSDT 1d')
    const [openTime] = await legendRow(page)
    expect(Number(openTime) % 86_400_000).toBe(0)
    expect(pathOf(page)).toBe('/chart/BTCUSDT/1d')
    // An aborted request is no fault.
    expect(faults.filter(fault => !/\/4h.* failed$/.test(fault))).toEqual([])
  })

  it('a slow service: says how far it is', async () => {
    const { page, faults } = await open('about:blank')
    const release = deferred()
    let requested = 0
    await page.route('**/api/klines/1h/**', async route => {
      requested++
      if (requested > 1) await release.promise
      await route.continue()
    })
    await page.goto(`${url()}/chart/BTCUSDT/1h?from=2025-01-05&to=2025-03-20`)
    await page.getByRole('status').filter({ hasText: 'Loading BTCUSDT 1h, 1 of 3 windows' }).waitFor()
    release.resolve()
    await settled(page, 'BTCUSDT 1h')
    expect(await page.locator('#activity').isVisible()).toBe(false)
    expect(faults).toEqual([])
  })

  it('a link shows the candles that its sender saw', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1h')
    expect([...query(page)]).toEqual([])
    await page.locator('#chart').focus()
    for (const key of ['Shift+ArrowLeft', 'ArrowLeft', '+', '-', '-']) await page.keyboard.press(key)
    await page.getByLabel('Log').check()
    await page.waitForURL(/from=.*&to=.*&log=1/)
    await settled(page)
    const link = page.url()
    const shown = async () => [
      await page.locator('#day').inputValue(),
      await page.getByRole('link', { name: 'CSV' }).getAttribute('href'),
    ]
    const sent = await shown()
    // Its receiver has nothing but the address.
    await page.evaluate('(localStorage.clear(), sessionStorage.clear())')
    await page.goto('about:blank')
    await page.goto(link)
    await settled(page, 'BTCUSDT 1h')
    await page.getByRole('button', { name: '+' }).waitFor({ state: 'detached' })
    expect(await shown()).toEqual(sent)
    expect(page.url()).toBe(link)
    expect(await page.getByLabel('Log').isChecked()).toBe(true)
    expect(faults).toEqual([])
  })

  it('a link shows its time also where frames are slow, so that loads end between them', async () => {
    const { page } = await openChart('/chart/BTCUSDT/15m?from=2025-02-10&to=2025-02-10T12:00Z', {
      script: 'window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 150)',
    })
    const csv = page.getByRole('link', { name: 'CSV' })
    expect(await csv.getAttribute('href')).toContain('from=2025-02-10T00:00Z&to=2025-02-10T12:00Z')
  })

  it('the legend describes the last visible candle, and the download links name the visible ones, half-open', async () => {
    const { page } = await openChart('/chart/BTCUSDT/1d?from=2025-01-06&to=2025-01-20')
    expect(await page.locator('#legend-time').textContent()).toContain('19 Jan 2025')
    const hrefs = await page
      .locator('a[data-format]')
      .evaluateAll(links => links.map(link => link.getAttribute('href')))
    const range = 'from=2025-01-06T00:00Z&to=2025-01-20T00:00Z'
    expect(hrefs).toEqual([`/export/1d/BTCUSDT.csv?${range}`, `/export/1d/BTCUSDT.parquet?${range}`])
    expect(await page.getByRole('link', { name: 'klines' }).getAttribute('href')).toBe('/')
  })

  it('the day picker jumps to a day; one without candles says so, until the next jump', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1h')
    const day = page.getByLabel('Jump to a day')
    const message = page.locator('#message')
    await day.fill('2010-01-01')
    await message.waitFor()
    expect(await page.locator('#message-text').textContent()).toBe('There are no candles then; these are the nearest.')
    await day.fill('2025-01-20')
    await page.waitForURL(/from=2025-01-20T00:00Z/)
    expect(await message.isVisible()).toBe(false)
    await settled(page)
    expect(faults).toEqual([])
  })

  it('local time: the legend says so, the address keeps it, and the day is one of it', async () => {
    const { page } = await openChart('/chart/BTCUSDT/1h', { timezoneId: 'Asia/Tokyo' })
    const day = page.getByLabel('Jump to a day')
    const zone = page.getByLabel('Time zone')
    const utc = await page.locator('#legend-time').textContent()
    const [, hours] = /(\d\d):00 UTC$/.exec(String(utc)) ?? []
    await zone.selectOption('local')
    const later = String((Number(hours) + 9) % 24).padStart(2, '0')
    expect(await page.locator('#legend-time').textContent()).toMatch(new RegExp(`${later}:00 GMT\\+9$`))
    expect(query(page).get('tz')).toBe('local')
    await day.fill('2025-01-20')
    await page.waitForURL(/from=2025-01-19T15:00Z/)
    await zone.focus()
    await page.goto(page.url())
    await settled(page)
    expect(await day.inputValue()).toBe('2025-01-20')
    await zone.selectOption('utc')
    expect(await day.inputValue()).toBe('2025-01-19')
  })

  it('a typed symbol may have a separator, lower case and spaces; what cannot be one is an error, and no request', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1d')
    for (const text of ['ETH/USDT', 'eth-usdt', ' eth_usdt ']) {
      await page.getByRole('combobox', { name: 'Symbol' }).fill(text)
      await page.keyboard.press('Enter')
      await settled(page, 'ETHUSDT 1d')
      expect(pathOf(page)).toBe('/chart/ETHUSDT/1d')
      await page.goBack()
      await settled(page, 'BTCUSDT 1d')
    }
    await page.getByRole('combobox', { name: 'Symbol' }).fill('no such')
    await page.keyboard.press('Enter')
    await page.locator('#message').waitFor()
    expect(await page.locator('#message-text').textContent()).toContain('“NO SUCH” is not a symbol')
    await page.goBack()
    await settled(page, 'BTCUSDT 1d')
    expect(faults).toEqual([])
  })

  const ADDRESSES = [
    ['/chart/btc-usdt/1h?from=2025-01-20&to=2025-01-21', 'from=2025-01-20T00:00Z&to=2025-01-21T00:00Z'],
    ['/chart/BTC%2FUSDT/1h?from=2025-02&to=2025-02-02', 'from=2025-02-01T00:00Z&to=2025-02-02T00:00Z'],
    ['/chart/BTCUSDT/1h?from=1735689600&to=1735776000000', 'from=2025-01-01T00:00Z&to=2025-01-02T00:00Z'],
    ['/chart/BTCUSDT/1h?to=2025-02', '&to=2025-02-01T00:00Z'],
  ]
  it.each(ADDRESSES)('%s is read as the command line would', async (path, range) => {
    const { page, faults } = await openChart(path)
    await page.waitForURL(/\/chart\/BTCUSDT\/1h\?/)
    const csv = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
    expect(csv).toContain('/export/1h/BTCUSDT.csv?from=2025-')
    expect(csv).toContain(range)
    expect(faults).toEqual([])
  })

  it('the theme follows the system; the button overrides it, and the choice is remembered', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1d', { colorScheme: 'dark' })
    expect(isDark(await background(page))).toBe(true)
    const theme = page.getByRole('button', { name: 'Theme' })
    await theme.click()
    expect(await theme.getAttribute('title')).toBe('Theme: light')
    expect(isDark(await background(page))).toBe(false)
    await page.reload()
    await settled(page)
    expect(isDark(await background(page))).toBe(false)
    const [[red]] = await colorsAt(page, 0.99)
    expect(red).toBeGreaterThan(200)
    await page.emulateMedia({ colorScheme: 'light' })
    await theme.click()
    expect(await theme.getAttribute('title')).toBe('Theme: dark')
    expect(isDark(await background(page))).toBe(true)
    expect(faults).toEqual([])
  })

  it('everything works by keyboard alone', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1h')
    const focused = () => page.evaluate<string>('document.activeElement.id || document.activeElement.textContent')
    const reached: string[] = []
    for (let press = 0; press < 40; press++) {
      await page.keyboard.press('Tab')
      reached.push(await focused())
      // A date has parts that show the focus themselves.
      const isShown =
        'getComputedStyle(document.activeElement).outlineStyle !== "none" || document.activeElement.id === "day"'
      expect(await page.evaluate(isShown)).toBe(true)
      if (reached.at(-1) === 'chart') break
    }
    expect(reached).toEqual(
      expect.arrayContaining(['home', 'symbol', '15m', '1M', 'log', 'day', 'zone', 'theme', 'CSV']),
    )
    expect([reached[0], reached.at(-1)]).toEqual(['home', 'chart'])
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keys' })
    await keys.getByText('show the newest candles').waitFor()
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'hidden' })
    expect(await focused()).toBe('chart')
    const first = (await counts(page)).candles
    await page.keyboard.press('Home')
    await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
    await settled(page)
    expect((await counts(page)).candles).toBeGreaterThan(first)
    const from = () => query(page).get('from')
    await expect.poll(from).not.toBeNull()
    const start = from()
    await page.keyboard.press('ArrowRight')
    await expect.poll(from).not.toBe(start)
    await page.getByRole('button', { name: '1d', exact: true }).focus()
    await page.keyboard.press('Enter')
    await settled(page, 'BTCUSDT 1d')
    expect(faults).toEqual([])
  })

  it('keys of a control are its own', async () => {
    const { page } = await openChart('/chart/BTCUSDT/1h')
    await page.getByLabel('Time zone').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowLeft')
    await settled(page)
    expect([...query(page)]).toEqual([])
  })

  const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true }
  it.each(['light', 'dark'] as const)('%s on a phone: all intervals, a short legend', async colorScheme => {
    const { page, faults } = await openChart('/chart/BTCUSDT/15m', { ...PHONE, colorScheme })
    const tooWide =
      'document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight'
    expect(await page.evaluate(tooWide)).toBe(false)
    for (const button of await page.locator('#intervals button:visible').all()) {
      const { x, width } = (await button.boundingBox())!
      expect([await button.textContent(), x >= 0 && x + width <= 390]).toEqual([await button.textContent(), true])
    }
    const legend = page.locator('#legend')
    const columns = () => page.locator('#legend-columns div:visible').count()
    expect([await columns(), (await legend.boundingBox())!.height < 55]).toEqual([4, true])
    await legend.tap()
    expect(await columns()).toBe(12)
    expect(await page.evaluate(tooWide)).toBe(false)
    expect(isDark(await background(page))).toBe(colorScheme === 'dark')
    expect(faults).toEqual([])
  })

  it('a swipe loads history', async () => {
    const path = '/chart/BTCUSDT/15m?from=2025-03-11&to=2025-03-11T12:00Z'
    const { page, faults, requests } = await openChart(path, PHONE)
    const chart = (await page.locator('#chart').boundingBox())!
    expect(chart.height).toBeGreaterThan(380)
    await page.getByRole('button', { name: '1M', exact: true }).scrollIntoViewIfNeeded()
    const before = requestedWindows(requests, 'BTCUSDT', '15m').length
    const touch = await page.context().newCDPSession(page)
    const point = (x: number) => [{ x, y: chart.y + 100 }]
    for (let swipe = 0; swipe < 4; swipe++) {
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: point(20) })
      for (let x = 60; x <= 300; x += 60)
        await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: point(x) })
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    }
    const loaded = () => requestedWindows(requests, 'BTCUSDT', '15m').length
    await expect.poll(loaded).toBeGreaterThan(before)
    await settled(page)
    expect(new Set(requestedWindows(requests, 'BTCUSDT', '15m')).size).toBe(loaded())
    expect(faults).toEqual([])
  })
})
