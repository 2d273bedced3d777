import { candleTableFlags } from './from-table.js'
import { pick } from './group.js'
import { lakeFlags, outputFlags } from './output.js'
import { runFlags } from './run.js'
import { selectionFlags } from './selection.js'
import { fetchFlags, locationFlags } from './service.js'

/** Which candles are exported from where, to what. */
export const exportFlags = {
  ...selectionFlags,
  ...pick(candleTableFlags, 'limit', 'tail'),
  ...outputFlags,
  ...lakeFlags,
  ...locationFlags,
  ...pick(runFlags, 'fail-on-gaps', 'dry-run', 'threads', 'per-series'),
}

/** The same for what is downloaded first; the lock stands beside what it replaces. */
export const downloadFlags = {
  ...pick(exportFlags, 'interval'),
  ...pick(runFlags, 'lock'),
  ...exportFlags,
  ...fetchFlags,
}
