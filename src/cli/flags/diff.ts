import * as Args from '@oclif/core/args'
import { fingerprintFlags } from './fingerprint.js'
import { type FetchFlags, fetchFlags } from './network.js'
import { progressFlag } from './output.js'
import { acceptListFlag, intervalFilterFlag, type RangeFlags, selectionFlags, yesFlag } from './selection.js'

const side = {
  description: 'A mirror, a lake, a file that klines wrote, binance, or a base address.',
  required: true,
  ignoreStdin: true,
} as const

export const diffArgs = {
  a: Args.string(side),
  b: Args.string(side),
  symbol: Args.string({
    description: "Only these trading pairs; quoted patterns such as '*USDT'.",
    multiple: true,
    ignoreStdin: true,
  }),
}

const { from, to, last } = selectionFlags

export const diffFlags = {
  interval: intervalFilterFlag,
  series: fingerprintFlags.series,
  ...{ from, to, last },
  ...fetchFlags,
  'accept-list': acceptListFlag,
  yes: yesFlag,
  progress: progressFlag,
}

/** What `diffArgs` parse to. */
export interface DiffArgs {
  a: string
  b: string
  symbol?: string[] | undefined
}

/** What `diffFlags` parse to. */
export interface DiffFlags extends FetchFlags, RangeFlags {
  interval?: string[] | undefined
  series?: string | undefined
  verbose: boolean
  json: boolean
}
