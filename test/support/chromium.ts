import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest'
import type {} from './browser-setup.js'

const address = inject('browserAddress')
if (address === undefined) throw new Error('Files that use a browser belong into the project `browser` of the tests.')

/** Whether a browser is installed; tests that need one are skipped without it. */
export const hasChromium = address !== null

/** An open page, its faults and its requests. */
export interface WatchedPage {
  readonly page: Page
  /** Console errors and warnings, failed requests, violations of the content security policy. */
  readonly faults: readonly string[]
  /** Every requested URL. */
  readonly requests: readonly string[]
}

/** How a page is opened. `script` runs in it before its own scripts. */
export interface OpenOptions extends BrowserContextOptions {
  readonly script?: string
}

type ColorScheme = BrowserContextOptions['colorScheme']

/** As wide as a screen, and not as high: without a graphics card, each pixel costs time. */
const VIEWPORT = { width: 1280, height: 440 }

/**
 * Connects the tests of a group to the browser of the run; returns a function that opens a URL, without cookies or storage of other
 * tests. A new context and page take most of the time of a short test, so the page of a finished test is used again, with what it
 * has cached.
 */
export function useBrowser(): (url: string, options?: OpenOptions) => Promise<WatchedPage> {
  let browser: Browser
  const idle = new Map<string, ReusablePage[]>()
  beforeAll(async () => {
    browser = await chromium.connect(String(address))
  })
  afterAll(async () => {
    idle.clear()
    await browser?.close()
  })
  return async (url, { viewport = VIEWPORT, colorScheme = 'light', ...options } = {}) => {
    const kind = JSON.stringify(options)
    const pages = idle.get(kind) ?? []
    idle.set(kind, pages)
    const reusable = pages.pop() ?? (await ReusablePage.open(browser, options))
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'pass' && (await reusable.leave())) pages.push(reusable)
      else await reusable.page.context().close()
    })
    return reusable.show(url, viewport ?? VIEWPORT, colorScheme)
  }
}

/** A page that several tests show, one after the other. */
class ReusablePage {
  private faults: string[] = []
  private requests: string[] = []

  private constructor(readonly page: Page) {}

  /** Opens an empty page in a new context. */
  static async open(browser: Browser, { script, ...options }: OpenOptions): Promise<ReusablePage> {
    const context = await browser.newContext(options)
    // A busy machine makes a browser slow.
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    const reusable = new ReusablePage(page)
    const fault = (text: string) => reusable.faults.push(text)
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) fault(message.text())
    })
    page.on('pageerror', error => fault(String(error)))
    page.on('requestfailed', request => {
      // A navigation ends what the page before it still loads, such as its icon.
      if (request.failure()?.errorText !== 'net::ERR_ABORTED') fault(`${request.url()} failed`)
    })
    page.on('response', response => {
      if (response.status() >= 400) fault(`${response.url()}: ${response.status()}`)
    })
    page.on('request', request => reusable.requests.push(request.url()))
    // A policy violation is an event of the document, so a script in the page has to report it.
    await page.exposeFunction('reportViolation', (text: string) => fault(`${text} refused by the policy`))
    await page.addInitScript({
      content: `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      reportViolation(violatedDirective + ' ' + blockedURI))
      ${script ?? ''}`,
    })
    return reusable
  }

  async show(url: string, viewport: { width: number; height: number }, colorScheme: ColorScheme): Promise<WatchedPage> {
    const { page } = this
    const [faults, requests]: string[][] = [[], []]
    Object.assign(this, { faults, requests })
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await page.goto(url)
    return { page, faults, requests }
  }

  /** Leaves no trace of a test; false where that is not possible. */
  async leave(): Promise<boolean> {
    const { page } = this
    try {
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.evaluate('(localStorage.clear(), sessionStorage.clear())')
      await page.context().clearCookies()
      await page.mouse.move(0, 0)
      await page.goto('about:blank')
      return true
    } catch {
      return false
    }
  }
}
