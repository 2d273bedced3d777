import * as Args from '@oclif/core/args'
import type { FlagsOf } from './group.js'
import type { OutputOptions } from './run.js'
import { intervalFilterFlags, rangeFlags } from './selection.js'
import { fetchFlags } from './service.js'

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

export const diffFlags = {
  ...intervalFilterFlags,
  ...rangeFlags,
  ...fetchFlags,
}

/** What `diffArgs` parse to. */
export interface DiffArgs {
  a: string
  b: string
  symbol?: string[] | undefined
}

/** What `diffFlags` parse to. */
export type DiffFlags = FlagsOf<typeof diffFlags> & OutputOptions
