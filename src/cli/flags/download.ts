import type { CandleTableFlags } from './from-table.js'
import type { FlagsOf } from './group.js'
import { lakeFlags } from './lake.js'
import { locationFlags } from './location.js'
import { fetchFlags } from './network.js'
import { dryRunFlag, outputFlags, perSeriesFlag, progressFlag, threadsFlag } from './output.js'
import {
  acceptListFlag,
  failOnGapsFlag,
  failOnRestatedFlag,
  limitFlag,
  lockFlag,
  selectionFlags,
  tailFlag,
  yesFlag,
} from './selection.js'

export const downloadFlags = {
  ...selectionFlags,
  lock: lockFlag,
  limit: limitFlag,
  tail: tailFlag,
  ...outputFlags,
  ...lakeFlags,
  ...locationFlags,
  ...fetchFlags,
  'accept-list': acceptListFlag,
  'fail-on-gaps': failOnGapsFlag,
  'fail-on-restated': failOnRestatedFlag,
  yes: yesFlag,
  'dry-run': dryRunFlag,
  threads: threadsFlag,
  progress: progressFlag,
  'per-series': perSeriesFlag,
}

/** What the flags of `download` and `export` parse to. */
export interface JobFlags extends Partial<FlagsOf<typeof downloadFlags>>, Pick<CandleTableFlags, 'derive'> {
  interval: string[]
  json: boolean
  quiet: boolean
}
