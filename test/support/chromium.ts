import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest'
import type {} from './browser-setup.js'

const address = inject('browserAddress')
if (address === undefined) throw new Error('Files that use a browser belong into the project `browser` of the tests.')

/** Whether a browser is installed; tests that need one are skipped without it. */
export const hasChromium = address !== null

/** An open page, its faults and its requests. */
interface WatchedPage {
  readonly page: Page
  /** Console errors and warnings, failed requests, violations of the content security policy. */
  readonly faults: readonly string[]
  /** Every requested URL. */
  readonly requests: readonly string[]
}

/** As wide as a screen, and not as high: without a graphics card, each pixel costs time. */
const VIEWPORT = { width: 1280, height: 440 }

/** Connects the tests of a group to the browser of the run; returns a function that opens a URL, without cookies or storage of other tests. */
export function useBrowser(): (url: string, options?: BrowserContextOptions) => Promise<WatchedPage> {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.connect(String(address))
  })
  afterAll(() => browser?.close())
  return async (url, options) => {
    const context = await browser.newContext({ viewport: VIEWPORT, colorScheme: 'light', ...options })
    onTestFinished(() => context.close())
    // A busy machine makes a browser slow.
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    const [faults, requests]: string[][] = [[], []]
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) faults.push(message.text())
    })
    page.on('pageerror', error => faults.push(String(error)))
    page.on('requestfailed', request => {
      // A navigation ends what the page before it still loads, such as its icon.
      if (request.failure()?.errorText !== 'net::ERR_ABORTED') faults.push(`${request.url()} failed`)
    })
    page.on('response', response => {
      if (response.status() >= 400) faults.push(`${response.url()}: ${response.status()}`)
    })
    page.on('request', request => requests.push(request.url()))
    // A policy violation is an event of the document, so a script in the page has to report it.
    await page.exposeFunction('reportViolation', (text: string) => faults.push(`${text} refused by the policy`))
    await page.addInitScript({
      content: `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      reportViolation(violatedDirective + ' ' + blockedURI))`,
    })
    await page.goto(url)
    return { page, faults, requests }
  }
}
