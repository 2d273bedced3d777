import { Page } from './page.js'

const page = new Page()
await page.openAddress()
await page.showCoverage()
