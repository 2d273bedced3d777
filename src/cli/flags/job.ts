import type { Format } from '../../options/formats.js'
import type { TableFlags } from './from-table.js'
import type { LakeFlags } from './lake.js'
import type { LocationFlags } from './location.js'
import type { NetworkFlags } from './network.js'

/** What the flags of `download` and `export` parse to. */
export interface JobFlags extends LakeFlags, LocationFlags, NetworkFlags, TableFlags {
  interval: string[]
  from?: string | undefined
  to?: string | undefined
  last?: string | undefined
  concurrency?: number | undefined
  refresh?: boolean
  output?: string | undefined
  format?: Format | undefined
  resample?: string | undefined
  partial?: boolean
  derive?: boolean
  'accept-list'?: boolean
  force: boolean
  yes?: boolean
  mkdir?: boolean
  threads?: number | undefined
  'dry-run': boolean
  'per-series'?: boolean
  json: boolean
  quiet: boolean
  verbose: boolean
}
