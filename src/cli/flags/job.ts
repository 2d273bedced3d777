import type { Compression } from '../../export/formats/compression.js'
import type { Format } from '../../export/formats/format.js'
import type { NumberType, TimeFormat } from '../../export/row-format.js'
import type { LakeFlags } from './lake.js'
import type { LocationFlags } from './location.js'
import type { NetworkFlags } from './network.js'
import type { PictureFlags } from './picture.js'

/** What the flags of `download` and `export` parse to. */
export interface JobFlags extends LakeFlags, LocationFlags, NetworkFlags, PictureFlags {
  interval: string[]
  from?: string | undefined
  to?: string | undefined
  last?: string | undefined
  concurrency?: number | undefined
  refresh?: boolean
  output?: string | undefined
  format?: Format | undefined
  columns?: string[] | undefined
  'time-format'?: TimeFormat | undefined
  numbers?: NumberType | undefined
  compression?: Compression | undefined
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
