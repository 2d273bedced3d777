import { startDownloads } from './download-form.js'
import { fillHeatMap } from './heat-map.js'

startDownloads()
await awaitCoverage()
await fillHeatMap()

/** On the page that stands for a mirror whose files are being counted: loads the page again when they are. */
async function awaitCoverage(): Promise<void> {
  const status = document.querySelector('#underway')
  if (!status) return
  try {
    const response = await fetch('/coverage.json')
    if (!response.ok) throw new Error(`The server answered with status ${response.status}.`)
    location.reload()
  } catch (error) {
    status.textContent = (error as Error).message
  }
}
