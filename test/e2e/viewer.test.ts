import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasChromium, useBrowser } from '../support/chromium.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { deferred } from '../support/deferred.js'
import { makeOffGridTree } from '../support/off-grid-tree.js'
import { copySample, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'
import { followSetup, HOUR, MINUTE } from '../support/servers/follow-setup.js'
import { startPathProxy } from '../support/servers/path-proxy.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { servePages, usePages } from '../support/servers/served-pages.js'
import { FULL_WEEKS, makeTree, OPEN_WEEK, treeRows, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { COLUMNS, colorsAt, counts, legendRow, pointAt, requestedWindows, settled } from '../support/viewer.js'

const message = (page: Page) => page.locator('#message-text')
const interval = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const csvLink = (page: Page) => page.getByRole('link', { name: 'CSV' }).getAttribute('href')
const query = (page: Page) => new URL(page.url()).searchParams
const pathOf = (page: Page) => new URL(page.url()).pathname
const newest = (symbol: string, interval: string) => sampleRows(symbol, interval).at(-1)?.map(String)
const isDark = async (page: Page) =>
  Number((await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).match(/\d+/)) < 128

describe.skipIf(!hasChromium)('the chart (skipped without Chromium)', () => {
  const newSandbox = useSandboxes()
  const open = useBrowser()
  const url = usePages(() => SAMPLE_TREE)

  async function openChart(path: string, options?: Parameters<typeof open>[1]) {
    const opened = await open(`${url()}${path}`, options)
    await settled(opened.page)
    return opened
  }

  async function chooseSymbol(page: Page, text: string): Promise<void> {
    await page.getByRole('combobox', { name: 'Symbol' }).fill(text)
    await page.keyboard.press('Enter')
  }

  it('links: every series has an address, and an address shows what its sender saw', async () => {
    const { page, faults, requests } = await openChart('/chart')
    await page.waitForURL(`${url()}/chart/BTCUSDT/1d`)
    expect(await legendRow(page)).toEqual(newest('BTCUSDT', '1d'))
    expect(await page.title()).toContain('BTCUSDT 1d')
    await interval(page, '4h').click()
    await settled(page, 'BTCUSDT 4h')
    expect(await legendRow(page)).toEqual(newest('BTCUSDT', '4h'))
    await chooseSymbol(page, ' eth-usdt ')
    await settled(page, 'ETHUSDT 4h')
    expect([pathOf(page), await legendRow(page)]).toEqual(['/chart/ETHUSDT/4h', newest('ETHUSDT', '4h')])
    await page.goBack()
    await settled(page, 'BTCUSDT 4h')
    await page.goBack()
    await settled(page, 'BTCUSDT 1d')
    await page.goForward()
    await settled(page, 'BTCUSDT 4h')
    expect(await page.getByRole('button', { pressed: true }).textContent()).toBe('4h')
    const windows = requestedWindows(requests, 'BTCUSDT', '4h')
    expect(new Set(windows).size).toBe(windows.length)

    await page.locator('#chart').focus()
    for (const key of ['Shift+ArrowLeft', '+', '-', '-']) await page.keyboard.press(key)
    await page.getByLabel('Log').check()
    await page.waitForURL(/from=.*&to=.*&log=1/)
    await settled(page)
    const [sent, link] = [await csvLink(page), page.url()]
    await page.evaluate('(localStorage.clear(), sessionStorage.clear())')
    await page.goto('about:blank')
    await page.goto(link)
    await settled(page, 'BTCUSDT 4h')
    expect([page.url(), await csvLink(page), await page.getByLabel('Log').isChecked()]).toEqual([link, sent, true])

    for (const [path, range] of [
      ['/chart/btc-usdt/1h?from=2025-01-20&to=2025-01-21', 'from=2025-01-20T00:00Z&to=2025-01-21T00:00Z'],
      ['/chart/BTC%2FUSDT/1h?from=1735689600&to=1735776000000', 'from=2025-01-01T00:00Z&to=2025-01-02T00:00Z'],
    ]) {
      await page.goto(url() + path)
      await page.waitForURL(/\/chart\/BTCUSDT\/1h\?/)
      await settled(page)
      expect(await csvLink(page)).toBe(`/export/1h/BTCUSDT.csv?${range}`)
    }
    expect(faults).toEqual([])
    expect(requests.filter(address => !address.startsWith(`${url()}/`) && address !== 'about:blank')).toEqual([])
  })

  it('values of any size are shown as text; a window that is no list is named', async () => {
    const DAY = 86_400_000
    const rowsFrom = (start: number, value: string) =>
      Array.from({ length: 3 }, (_, at) => {
        const openTime = start + at * DAY
        return [openTime, value, value, value, value, value, openTime + DAY - 1, '1', 1, '1', '1', '0']
      })
    const all = [
      ['BIGUSDT', '9'.repeat(300)],
      ['HUGEUSDT', '9'.repeat(400)],
      ['ZEROUSDT', '0.00'],
      ['TINYUSDT', `0.${'0'.repeat(299)}1`],
    ]
    const root = join(tempFolder(), 'tree')
    const write = (path: string, content: unknown) => {
      mkdirSync(join(root, 'api/klines', path, '..'), { recursive: true })
      writeFileSync(join(root, 'api/klines', path), JSON.stringify(content))
    }
    write('symbols.json', [...all.map(([symbol]) => symbol), 'OBJUSDT'])
    write('start-dates/1d.json', ['2020-01-01', '2022-01-01', '2024-01-01'])
    for (const [symbol, value] of [...all, ['OBJUSDT', '1']])
      for (const year of [2020, 2022, 2024])
        write(`1d/${symbol}/${year}-01-01.json`, rowsFrom(Date.UTC(year, 0), value))
    write('1d/OBJUSDT/2022-01-01.json', { a: 1 })
    const base = await servePages(root)
    const { page, faults } = await open('about:blank')
    for (const [symbol, value] of all) {
      await page.goto(`${base}/chart/${symbol}/1d`)
      await settled(page, symbol)
      expect((await legendRow(page)).slice(1, 6)).toEqual(Array(5).fill(value))
      expect(await page.locator('#legend-change').textContent()).toBe(symbol === 'ZEROUSDT' ? '' : '0.00 %')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280)
      expect([symbol, faults]).toEqual([symbol, []])
    }
    await page.goto(`${base}/chart/OBJUSDT/1d?from=2020-01-01&to=2024-02-01`)
    await settled(page, 'OBJUSDT')
    expect(await message(page).textContent()).toBe(
      'api/klines/1d/OBJUSDT/2022-01-01.json: The file of this window is corrupt.',
    )
    expect(await counts(page)).toMatchObject({ candles: 6, missingWindows: 1 })
  })

  it('live: a candle is drawn as it closes, without a jump; a hidden tab has no stream; a mirror alone has none at all', async () => {
    const { url: live, clock, request, rowsOf } = await followSetup()
    const { page, faults, requests } = await open(`${live}/chart/BTCUSDT/1m`)
    await settled(page)
    const dot = page.locator('#live')
    const last = () =>
      rowsOf(0, clock.time - MINUTE - 15_000)!
        .at(-1)!
        .map(String)
    const shows = async () => {
      await expect.poll(() => legendRow(page)).toEqual(last())
      expect(await page.title()).toBe(`${Number(last()[4])} BTCUSDT 1m – klines`)
    }
    await dot.filter({ hasText: 'live' }).waitFor()
    await shows()
    const { candles } = await counts(page)
    clock.time += MINUTE
    await shows()
    expect((await counts(page)).candles).toBe(candles + 1)
    // Who looks at the past sees the same candles.
    await page.keyboard.press('Shift+ArrowLeft')
    await page.waitForURL(/from=/)
    await settled(page)
    const address = page.url()
    clock.time += MINUTE
    await expect.poll(() => counts(page)).toMatchObject({ candles: candles + 2 })
    expect(page.url()).toBe(address)
    await page.keyboard.press('End')
    await shows()
    // Over the end of a window, while nobody looks.
    const hide = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })`)
    await hide(true)
    await dot.filter({ hasText: 'offline' }).waitFor()
    clock.time += 3 * HOUR
    await request('follow/1m/BTCUSDT', { method: 'HEAD' })
    await hide(false)
    await shows()
    expect(await counts(page)).toMatchObject({ candles: candles + 182, missing: 0 })
    expect(faults).toEqual([])
    expect(requests.filter(path => path.includes('/follow/'))).toHaveLength(2)

    const alone = await openChart('/chart/BTCUSDT/1h')
    expect([await alone.page.locator('#live').textContent(), alone.faults]).toEqual(['', []])
    expect(alone.requests.filter(path => path.includes('/follow/'))).toEqual([])
    expect(await alone.page.title()).toBe('BTCUSDT 1h – klines')
  })

  it('links: all of them hold below a path of a proxy', async () => {
    const base = await startPathProxy(url())
    const { page, faults, requests } = await open(`${base}/`)
    await page.getByRole('link', { name: 'chart', exact: true }).first().click()
    await settled(page)
    await interval(page, '4h').click()
    await settled(page, '4h')
    expect(pathOf(page)).toMatch(/^\/candles\/chart\/\w+\/4h$/)
    expect(await csvLink(page)).toMatch(/^\/candles\/export\/4h\/\w+\.csv\?/)
    await page.reload()
    await settled(page, '4h')
    await page.goto(`${base}/chart`)
    await settled(page, 'BTCUSDT 1d')
    await page.getByRole('link', { name: 'klines', exact: true }).click()
    await page.getByRole('link', { name: 'CSV' }).first().waitFor()
    const links = await page.getByRole('link').evaluateAll(all => all.map(link => String(Object(link).href)))
    expect(links.filter(link => !link.startsWith(`${base}/`))).toEqual([])
    // One of each kind.
    const kinds = new Map(links.map(link => [link.replaceAll(/\/[A-Z]+USDT|\/\d+[mhdwM]\b/g, ''), link]))
    for (const link of kinds.values()) expect((await fetch(link)).status, link).toBe(200)
    expect(faults).toEqual([])
    expect(requests.filter(address => !address.startsWith(`${base}/`))).toEqual([])
  })

  it('links: a jump to a day, in UTC or in local time; a theme that is not that of the system is remembered', async () => {
    const options = { timezoneId: 'Asia/Tokyo', colorScheme: 'dark' } as const
    const { page, faults } = await openChart('/chart/BTCUSDT/1h', options)
    const day = page.getByLabel('Jump to a day')
    await day.fill('2010-01-01')
    await message(page).waitFor()
    expect(await message(page).textContent()).toBe('There are no candles then; these are the nearest.')
    await day.fill('2025-01-20')
    await page.waitForURL(/from=2025-01-20T00:00Z/)
    expect(await message(page).isVisible()).toBe(false)
    await page.getByLabel('Time zone').selectOption('local')
    expect(await page.locator('#legend-time').textContent()).toMatch(/ GMT\+9$/)
    expect(query(page).get('tz')).toBe('local')
    await day.fill('2025-01-22')
    await page.waitForURL(/from=2025-01-21T15:00Z/)

    const theme = page.getByRole('button', { name: 'Theme' })
    expect(await isDark(page)).toBe(true)
    await theme.click()
    expect([await theme.getAttribute('title'), await isDark(page)]).toEqual(['Theme: light', false])
    await page.reload()
    await settled(page)
    expect(await isDark(page)).toBe(false)
    const [[red]] = await colorsAt(page, 0.99)
    expect(red).toBeGreaterThan(200)
    expect(faults).toEqual([])
  })

  it('keys: everything works without a mouse, and the keys of a control are its own', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1h')
    const focused = () => page.evaluate<string>('document.activeElement.id || document.activeElement.textContent')
    const reached: string[] = []
    for (let press = 0; press < 40 && reached.at(-1) !== 'chart'; press++) {
      await page.keyboard.press('Tab')
      reached.push(await focused())
      // A date has parts that show the focus themselves.
      const isShown =
        'getComputedStyle(document.activeElement).outlineStyle !== "none" || document.activeElement.id === "day"'
      expect(await page.evaluate(isShown)).toBe(true)
    }
    const controls = ['home', 'symbol', '15m', '1M', 'log', 'day', 'zone', 'theme', 'CSV']
    expect(reached).toEqual(expect.arrayContaining(controls))
    expect([reached[0], reached.at(-1)]).toEqual(['home', 'chart'])
    await page.getByText('End newest candles').waitFor()
    await page.keyboard.press('Home')
    await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
    await settled(page)
    expect(await counts(page)).toEqual({ candles: 2181, missing: 3, missingWindows: 0 })
    const from = () => query(page).get('from')
    await expect.poll(from).not.toBeNull()
    const start = from()
    await page.getByLabel('Time zone').focus()
    await page.keyboard.press('ArrowLeft')
    await settled(page)
    expect(from()).toBe(start)
    await page.locator('#chart').focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(from).not.toBe(start)
    await interval(page, '1d').focus()
    await page.keyboard.press('Enter')
    await settled(page, 'BTCUSDT 1d')
    expect(faults).toEqual([])
  })

  it('sizes: a phone has all intervals and a short legend, and a swipe loads history', async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'dark' } as const
    const { page, faults, requests } = await openChart('/chart/BTCUSDT/15m?from=2025-03-11&to=2025-03-11T12:00Z', phone)
    const tooWide =
      'document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight'
    expect([await page.evaluate(tooWide), await isDark(page)]).toEqual([false, true])
    for (const button of await page.locator('#intervals button:visible').all()) {
      const { x, width } = (await button.boundingBox())!
      expect(x >= 0 && x + width <= 390, String(await button.textContent())).toBe(true)
    }
    const columns = () => page.locator('#legend-columns div:visible').count()
    expect([await columns(), (await page.locator('#legend').boundingBox())!.height < 55]).toEqual([4, true])
    await page.locator('#legend').tap()
    expect([await columns(), await page.evaluate(tooWide)]).toEqual([12, false])
    const loaded = () => requestedWindows(requests, 'BTCUSDT', '15m')
    const before = loaded().length
    const { y } = (await page.locator('#chart').boundingBox())!
    const touch = await page.context().newCDPSession(page)
    const send = (type: string, ...xs: number[]) =>
      touch.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map(x => ({ x, y: y + 250 })) } as never)
    for (let swipe = 0; swipe < 4; swipe++) {
      await send('touchStart', 20)
      for (let x = 60; x <= 300; x += 60) await send('touchMove', x)
      await send('touchEnd')
    }
    await expect.poll(() => loaded().length).toBeGreaterThan(before)
    await settled(page)
    expect(new Set(loaded()).size).toBe(loaded().length)
    expect(faults).toEqual([])
  })

  it('keys: / finds a symbol; not in a field, nor with Ctrl', async () => {
    const { page, faults } = await openChart('/chart/BTCUSDT/1h')
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('/')
    await page.keyboard.type('/-eth')
    expect(await page.getByRole('combobox', { name: 'Symbol' }).inputValue()).toBe('/-eth')
    await chooseSymbol(page, 'eth')
    await settled(page, 'ETHUSDT 1h')
    expect(query(page).get('from')).toBeNull()
    expect(faults).toEqual([])
  })

  it('links: `last` is the time before now', async () => {
    const { page } = await openChart('/chart/BTCUSDT/1d?last=30y')
    expect(await csvLink(page)).toBe('/export/1d/BTCUSDT.csv?from=2024-12-30T00:00Z&to=2025-03-31T00:00Z')
  })

  it('an interval that the mirror lacks is made of a shorter one', async () => {
    const root = tempFolder()
    copySample(root, ['1h'])
    const { page, faults } = await open(`${await servePages(root)}/chart/BTCUSDT/4h`)
    await settled(page, 'BTCUSDT 4h')
    const rows = sampleRows('BTCUSDT', '4h').map(row => row.map(String))
    expect(await counts(page)).toMatchObject({ candles: rows.length, missingWindows: 0 })
    for (const part of [0.05, 0.5, 0.9]) {
      await pointAt(page, part)
      expect(rows).toContainEqual(await legendRow(page))
    }
    const link = String(await csvLink(page))
    expect(link).toMatch(/^\/export\/1h\/BTCUSDT\.csv\?from=.*&resample=4h$/)
    expect(await page.evaluate<number>(`fetch('${link}').then(response => response.status)`)).toBe(200)
    expect(await interval(page, '2h').getAttribute('title')).toBe('2h candles: made of shorter ones')
    expect(await interval(page, '15m').getAttribute('title')).toBe('15m candles: none in this mirror')
    expect(faults).toEqual([])
  })

  it('the newest candle: its price has the line and the tag, also after a drag into the past', async () => {
    const { page } = await openChart('/chart/BTCUSDT/1h')
    // The rows of pixels of the line and of the tag: most of their pixels have the colour of a candle.
    const marks = () =>
      page.evaluate<number[]>(`[[0, 0.5], [2, 0.3]].map(([at, share]) => {
        const canvas = document.querySelectorAll('#chart canvas')[at]
        const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        const isColoured = at => Math.abs(data[at] - data[at + 1]) > 60
        const counts = Array.from({ length: height }, (_, y) =>
          Array.from({ length: width }, (_, x) => isColoured(4 * (y * width + x))).filter(Boolean).length)
        const found = [...counts.keys()].filter(y => counts[y] >= share * Math.max(...counts))
        return at === 0 ? counts.indexOf(Math.max(...counts)) : (found[0] + found.at(-1)) / 2
      })`)
    const expectOnePlace = async () => {
      const [line, tag] = await marks()
      expect(Math.abs(line - tag)).toBeLessThan(4)
    }
    await expectOnePlace()
    const { x, y, width } = (await page.locator('#chart').boundingBox())!
    await page.mouse.move(x + 200, y + 100)
    await page.mouse.down()
    await page.mouse.move(x + 200 + width / 8, y + 100, { steps: 4 })
    await page.mouse.up()
    await page.mouse.move(1, 1)
    await page.waitForURL(/from=/)
    await settled(page)
    expect(await legendRow(page)).not.toEqual(newest('BTCUSDT', '1h'))
    await expectOnePlace()
  })

  it('sizes: the start page has all its links on the narrowest phone', async () => {
    const { page } = await open(`${url()}/`, { viewport: { width: 320, height: 640 } })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    const links = page.getByRole('link', { name: 'Parquet' })
    const { x, width } = (await links.first().boundingBox())!
    expect([x > 0, x + width <= 320]).toEqual([true, true])
  })

  it('a slow service: says that it loads; two fast switches end with the last one', async () => {
    const { page, faults } = await open('about:blank')
    const [release, late] = [deferred(), deferred()]
    let requested = 0
    await page.route('**/api/klines/1h/**', async route => {
      if (++requested > 1) await release.promise
      await route.continue()
    })
    await page.goto(`${url()}/chart/BTCUSDT/1h?from=2025-01-05&to=2025-03-20`)
    await page.getByRole('status').filter({ hasText: 'Loading candles' }).waitFor()
    release.resolve()
    await settled(page, 'BTCUSDT 1h')
    expect(await page.locator('#activity').isVisible()).toBe(false)
    // The answer to the first switch comes after the candles of the second one.
    await page.route('**/coverage/4h/**', async route => {
      const response = await route.fetch()
      await page.locator('#legend-series', { hasText: '1d' }).waitFor()
      await route.fulfill({ response }).catch(() => {})
      late.resolve()
    })
    await interval(page, '4h').click()
    await interval(page, '1d').click()
    await late.promise
    await settled(page, 'BTCUSDT 1d')
    expect([pathOf(page), Number((await legendRow(page))[0]) % 86_400_000]).toEqual(['/chart/BTCUSDT/1d', 0])
    // An aborted request is no fault.
    expect(faults.filter(fault => !/\/4h.* failed$/.test(fault))).toEqual([])
  })

  it('gaps: missing candles and missing windows are bands of their own, counted as `klines verify` counts', async () => {
    const root = makeTree(tempFolder())
    const lost = weekPath('BTCUSDT', FULL_WEEKS[2])
    rmSync(join(root, lost))
    const { page, faults, requests } = await open(
      `${await servePages(root)}/chart/BTCUSDT/15m?from=2025-01-19&to=2025-01-28`,
    )
    await settled(page)
    await pointAt(page, 0.5)
    expect(await page.locator('#legend-title').textContent()).toContain('window not in this mirror')
    await pointAt(page, 0.05)
    expect(await page.locator('#legend-title').textContent()).toContain('no candle')
    expect(await legendRow(page)).toEqual(COLUMNS.map(() => '–'))
    await page.keyboard.press('Home')
    await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
    const expectVerified = async (mirror: string, interval: string, missingWindows: number) => {
      const run = await newSandbox().call(['verify', 'BTCUSDT', '-i', interval, '--json', '--mirror', mirror])
      const { candles, missingCandles: missing } = JSON.parse(run.stdout).totals
      expect(await counts(page)).toEqual({ candles, missing, missingWindows })
    }
    await expectVerified(root, '15m', 1)
    expect(await page.locator('#status').textContent()).toContain('1 window not in this mirror')
    expect(requests.filter(address => address.includes(lost))).toEqual([])
    // The outage of 2018, after which candles are off the grid.
    const outage = makeOffGridTree(tempFolder())
    await page.goto(`${await servePages(outage)}/chart/BTCUSDT/1h?from=2018-02-07&to=2018-02-11`)
    await settled(page)
    const [paper, gap] = await colorsAt(page, 0.1, 0.4)
    expect(gap).not.toEqual(paper)
    // Amber: less blue than red.
    expect(gap[0] - gap[2]).toBeGreaterThan(30)
    await page.keyboard.press('Home')
    await page.locator('#status', { hasText: 'all in this mirror' }).waitFor()
    await settled(page)
    await expectVerified(outage, '1h', 0)
    expect(faults).toEqual([])
  })

  it('what is not there, or no address of a chart, is a message with what there is', async () => {
    const { page, faults } = await open('about:blank')
    const tree = await servePages(makeTree(tempFolder()))
    const ABSENT: [string, string, string[]][] = [
      ['%3Cb%3Ex/15m', 'This mirror has no symbol <B>X.', ['BTCUSDT', 'ETHUSDT']],
      ['BTCUSDT/1m', 'Only the exchange has them: klines download BTCUSDT -i 1m', ['15m']],
    ]
    for (const [path, text, links] of ABSENT) {
      await page.goto(`${tree}/chart/${path}`)
      await message(page).waitFor()
      expect(await message(page).textContent()).toContain(text)
      expect(await page.locator('#message-choices a').allTextContents()).toEqual(links)
    }
    await page.locator('#message-choices a').first().click()
    await settled(page, 'BTCUSDT 15m')
    for (const [query, text] of [
      ['from=2024-02-31', '"2024-02-31" is not a point in time. There is no such day. '],
      ['from=2019-01-01&to=2019-01-02', 'There are no candles in the time of this address'],
    ]) {
      await page.goto(`${tree}/chart/BTCUSDT/15m?${query}`)
      await settled(page, 'BTCUSDT 15m')
      await message(page).waitFor()
      expect(await message(page).textContent()).toContain(text)
      expect((await counts(page)).candles).toBeGreaterThan(0)
    }
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await message(page).isVisible()).toBe(false)
    expect(faults).toEqual([])
  })

  it('--upstream: the newest candles are found; a limit is told; a failure keeps what is loaded, and can be retried', async () => {
    const sandbox = newSandbox()
    const service = await startTreeServer(sandbox)
    const server = await startServeCommand(sandbox, ['--mirror', 'm', '--base-url', service.url, '--upstream'])
    onTestFinished(async () => void (await server.stop()))
    const { page } = await open(`${server.url}/chart/ETHUSDT/15m`)
    await settled(page)
    const rows = treeRows('ETHUSDT')
    expect(await legendRow(page)).toEqual(rows.get(OPEN_WEEK)?.at(-1)?.map(String))
    const before = await counts(page)
    const path = weekPath('ETHUSDT', FULL_WEEKS[0])
    service.script(path, { status: 429, headers: { 'retry-after': '2' } }, { status: 500 }, { status: 500 })
    await page.keyboard.press('Home')
    await message(page).waitFor()
    expect(await message(page).textContent()).toMatch(/limits requests\. Try again in [123] s/)
    const retry = async () => {
      await page.getByRole('button', { name: 'Try again' }).click()
      await message(page).waitFor()
      return message(page).textContent()
    }
    await expect.poll(retry, { timeout: 10_000 }).toContain('The service behind this server failed')
    expect(await message(page).textContent()).toContain('The service behind this server failed')
    expect((await counts(page)).candles).toBeGreaterThanOrEqual(before.candles)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('#status', { hasText: 'all there are' }).waitFor()
    await settled(page)
    expect((await counts(page)).candles).toBe([...rows.values()].flat().length)
  })
})
