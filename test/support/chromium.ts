import { existsSync } from 'node:fs'
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/** The system's own browser: none is downloaded. */
const CHROMIUM = '/usr/bin/chromium'

/** Whether there is a browser; tests that need one skip without it, and say so. */
export const hasChromium = existsSync(CHROMIUM)
if (!hasChromium) console.warn(`Tests in a browser are skipped: ${CHROMIUM} is not there.`)

/** A page that was opened, and what went wrong in it. */
export interface WatchedPage {
  readonly page: Page
  /** Errors and warnings of the console, failed requests, refusals by the content security policy. */
  readonly faults: readonly string[]
  /** Every address that was asked for. */
  readonly requests: readonly string[]
}

/** Opens an address in a new browser, which is closed when the test is over. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const context = await browser.newContext(options)
  // A browser on a busy machine is slow, and not broken.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const [faults, requests]: string[][] = [[], []]
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(String(error)))
  page.on('requestfailed', request => faults.push(`${request.url()} failed`))
  page.on('response', response => {
    if (response.status() >= 400) faults.push(`${response.url()}: ${response.status()}`)
  })
  page.on('request', request => requests.push(request.url()))
  // A policy's refusal is an event of the document; a string is what runs in the page.
  await page.exposeFunction('refused', (what: string) => faults.push(`${what} refused by the policy`))
  await page.addInitScript({
    content: `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      refused(violatedDirective + ' ' + blockedURI))`,
  })
  await page.goto(url)
  return { page, faults, requests }
}
