import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'

/**
 * The browsers of the system, best first: none is downloaded. The headless shell is the same engine without windows, tabs and profiles,
 * and takes a third less CPU time.
 */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser of the run listens; null where none is installed. */
    browserAddress: string | null
  }
}

/** The global set-up of the project `browser`: one browser for all its files. Returns a function that ends it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const executablePath = BROWSERS.find(existsSync)
  if (executablePath === undefined) {
    console.warn(`Tests in a browser are skipped: none of ${BROWSERS.join(', ')} is installed.`)
    project.provide('browserAddress', null)
    return undefined
  }
  // The browser writes to its home folder.
  const home = mkdtempSync(join(tmpdir(), 'klines-browser-'))
  const removeHome = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  // An interrupted run ends without a teardown.
  process.on('exit', removeHome)
  const { PATH } = process.env
  const { TZ } = project.config.env
  const server = await chromium.launchServer({
    executablePath,
    args: ['--no-sandbox'],
    env: { PATH, TZ, TMPDIR: home, HOME: home },
    // Vitest ends the run at a signal.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
  // Again, after Playwright's own listener, which kills the browser.
  process.on('exit', removeHome)
  project.provide('browserAddress', server.wsEndpoint())
  return async () => {
    await server.close()
    removeHome()
  }
}
