import { CLIError } from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'
import { inGroup } from './group.js'

/** Flags of every command. */
export const baseFlags = inGroup('appearance', {
  quiet: Flags.boolean({ char: 'q', summary: 'Print only data and errors.' }),
  verbose: Flags.boolean({ char: 'v', summary: 'Print more details.' }),
  json: Flags.boolean({ summary: 'Print one JSON object instead of text.' }),
})

/** Flags of several commands, each by itself: they `pick` theirs. */
export const runFlags = {
  ...inGroup('what', {
    'fail-on-gaps': Flags.boolean({
      summary: 'Exit code 3, and no export, when candles are missing in the range or at an end of it that is named.',
    }),
  }),
  ...inGroup('output', {
    'dry-run': Flags.boolean({ summary: 'Show what would be downloaded and written, without doing it.' }),
    threads: Flags.integer({
      summary:
        'Threads that work at once, at most one for each file, series of a lake, or symbol to verify. Default: 1 below 2,000 windows, else one per core, at most 8 and one for each 100 MB of memory.',
      helpValue: 'N',
    }),
  }),
  ...inGroup('appearance', {
    'per-series': Flags.boolean({ summary: 'Show a summary row for each series, even if there are more than 12.' }),
  }),
}

export const numberFlag = Flags.custom<number>({
  parse: async text => {
    const number = Number(text)
    if (text.trim() !== '' && Number.isFinite(number)) return number
    throw new CLIError(`Expected a number but received: ${text}`)
  },
})

/** Limits for requests, of every command that makes some. */
export const networkFlags = inGroup('network', {
  retries: Flags.integer({
    summary: 'Retries of a failed request. Default: 5; 1 for lists, serve, and chart with a mirror.',
    helpValue: 'N',
  }),
  timeout: numberFlag({
    summary: 'Timeout of an attempt in seconds. Default: 30; 5 for lists, serve, and chart with a mirror.',
    helpValue: 'SECONDS',
  }),
})

export const fetchFlags = inGroup('network', {
  concurrency: Flags.integer({
    summary: 'Number of parallel requests. Default: 16; 4 for binance.',
    helpValue: 'N',
  }),
  refresh: Flags.boolean({ summary: 'Download every window again, even final ones.' }),
  ...networkFlags,
})
