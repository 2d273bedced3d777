import { startDownloads } from './download-form.js'
import { fillHeatMap } from './heat-map.js'

startDownloads()
await fillHeatMap()
