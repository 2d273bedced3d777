import { candleTableFlags } from './from-table.js'
import { type FlagsOf, pick } from './group.js'
import { lakeFlags, outputFlags } from './output.js'
import { type OutputOptions, runFlags } from './run.js'
import { selectionFlags } from './selection.js'
import { fetchFlags, locationFlags } from './service.js'

export const downloadFlags = {
  ...selectionFlags,
  ...pick(runFlags, 'lock'),
  ...pick(candleTableFlags, 'limit', 'tail'),
  ...outputFlags,
  ...lakeFlags,
  ...locationFlags,
  ...fetchFlags,
  ...pick(runFlags, 'fail-on-gaps'),
  ...pick(runFlags, 'dry-run', 'threads', 'per-series'),
}

export const exportFlags = {
  ...selectionFlags,
  ...pick(candleTableFlags, 'limit', 'tail'),
  ...outputFlags,
  ...lakeFlags,
  ...locationFlags,
  ...pick(runFlags, 'fail-on-gaps', 'dry-run', 'threads', 'per-series'),
}

/** What the flags of `download` and `export` parse to. */
export interface JobFlags extends Partial<FlagsOf<typeof downloadFlags>> {
  interval: string[]
  json: boolean
  quiet: boolean
}

/** Of `update`: the mirror says which candles. */
export const updateFlags = {
  ...locationFlags,
  ...fetchFlags,
  ...pick(runFlags, 'fail-on-gaps', 'dry-run', 'per-series'),
}

/** What `updateFlags` parse to. */
export type UpdateFlags = FlagsOf<typeof updateFlags> & OutputOptions
