import { startDownloads } from './download-form.js'
import { fillHeatMap } from './heat-map.js'
import { awaitCoverage } from './underway.js'

startDownloads()
await awaitCoverage()
await fillHeatMap()
