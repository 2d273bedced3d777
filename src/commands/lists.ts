import { gzipSync } from 'node:zlib'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { command, refuse } from '../cli/command.js'
import { inGroup } from '../cli/flags/group.js'
import { outputFlag, outputFlags } from '../cli/flags/output.js'
import { locationFlags, networkFlags, rangeFlags, symbolArgs } from '../cli/flags/shared.js'
import { isBinary, resolveFormat, TEXT_FORMATS } from '../options.js'

const LISTS = { start: 'Fetching lists', verb: '', noun: 'list' }
const flags = { ...locationFlags, ...networkFlags }

export const symbols = command({
  summary: 'List the trading pairs, and what is in the mirror.',
  description: 'Shows the lists of the mirror if the service cannot be reached.',
  examples: ['klines symbols', 'klines symbols --json'],
  flags,
  async run({ options, during, print }) {
    const { readCatalogue } = await import('../engine/lists.js')
    const { Symbols } = await import('./reports/lists.js')
    print(Symbols, await during(LISTS, () => readCatalogue(options, [])))
  },
})

export const intervals = command({
  summary: 'List the candle lengths, and what is in the mirror.',
  description:
    'For each interval: the length of a window, the first date, the windows up to today, and how many are mirrored. Shows the lists of the mirror if the service cannot be reached.',
  examples: ['klines intervals', 'klines intervals --json'],
  flags,
  async run({ options, during, print }) {
    const { readCatalogue } = await import('../engine/lists.js')
    const { Intervals } = await import('./reports/lists.js')
    print(Intervals, await during(LISTS, () => readCatalogue(options)))
  },
})

export const startDates = command({
  summary: 'List the windows of an interval, and what is in the mirror.',
  description: 'Shows the windows up to today, and the lists of the mirror if the service cannot be reached.',
  examples: ['klines start-dates 1h', 'klines start-dates 1M --json'],
  args: {
    interval: Args.string({
      description: 'Candle length such as 1h; 1M is a month.',
      required: true,
      ignoreStdin: true,
    }),
  },
  flags,
  async run({ args, options, during, print }) {
    const { readCatalogue } = await import('../engine/lists.js')
    const { parseInterval } = await import('../candles/intervals.js')
    const { StartDates } = await import('./reports/lists.js')
    const interval = parseInterval(args.interval)
    const catalogue = await during(LISTS, () => readCatalogue(options, [interval]))
    print(StartDates, { ...catalogue, interval })
  },
})

export const funding = command({
  summary: 'List the funding rates of USD-M futures.',
  description: 'Prints what the exchange has now, and the hours since the row before. Nothing is stored.',
  examples: ['klines funding BTCUSDT --from 2024 -o funding.csv'],
  args: symbolArgs,
  flags: {
    ...rangeFlags,
    ...inGroup('output', {
      output: outputFlag({ summary: 'File to write; - for stdout.', env: 'KLINES_FUNDING_OUTPUT' }),
      force: outputFlags.force,
      format: { ...outputFlags.format, options: TEXT_FORMATS, env: 'KLINES_FUNDING_FORMAT' },
    }),
    ...inGroup('what', {
      // KLINES_BASE_URL is the address of candles.
      'base-url': Flags.string({
        summary: 'binance-usdm:URL for another host. Default: binance-usdm.',
        helpValue: 'URL',
        env: 'KLINES_FUNDING_URL',
      }),
    }),
    ...networkFlags,
  },
  async run({ args, flags: { output = '-', ...flags }, options, during, print, show }) {
    const { format, gzip } = resolveFormat(output, flags.format)
    if (isBinary(format)) throw refuse(`Expected csv, json or jsonl, not ${format}.`)
    if (/[{}]/.test(output)) throw refuse('-o names one file for all symbols, without placeholders.')
    const { listFunding } = await import('../engine/lists.js')
    const { encodeFunding, Funding } = await import('./reports/lists.js')
    const rates = await during({ ...LISTS, start: 'Fetching funding rates' }, () =>
      listFunding({ ...options, symbols: args.symbol }),
    )
    if (output === '-' && (flags.json || (process.stdout.isTTY && !flags.format))) return print(Funding, { rates })
    const { writeFiles } = await import('../engine/output-file.js')
    const text = encodeFunding(rates, format)
    await writeFiles([{ path: output, bytes: gzip ? gzipSync(text) : Buffer.from(text) }], options)
    if (output !== '-') show({ ...Funding, text: () => `${output}: ${rates.length} rates` }, { rates })
  },
})

export const mirror = command({
  summary: 'Show what is in the local mirror, and which other mirrors there are.',
  description:
    'Shows the windows, time range and size of each series, and a line for each other mirror in the cache folder. To remove a series, remove its folder, api/klines/INTERVAL/SYMBOL in that of the mirror; to remove a mirror, remove its folder.',
  examples: ['klines mirror', 'klines mirror --mirror DIR --json', 'ls "$(klines mirror --path)"'],
  flags: {
    ...locationFlags,
    ...inGroup('output', {
      path: Flags.boolean({ summary: 'Print the folder of the mirror alone, which may be missing.' }),
    }),
  },
  async run({ flags: { path, json }, options, print }) {
    const { mirrorStatus, openMirror, otherMirrors } = await import('../mirror/user-mirrors.js')
    const { MirrorReport } = await import('./reports/local.js')
    const { root, exists } = openMirror(options)
    const nothing = { mirror: root, baseUrl: undefined, windows: 0, cachedBytes: 0, series: [], others: [] }
    if (path && !(json && exists)) return print({ ...MirrorReport, text: ({ mirror }) => mirror }, nothing)
    const status = await mirrorStatus(options)
    print(MirrorReport, { ...status, others: await otherMirrors(root, options.signal) })
  },
})

const PUBLISHING = { start: 'Checking windows', verb: 'Checking', noun: 'window' }

export const publish = command({
  summary: 'Make the local mirror a complete static tree that any host can serve.',
  description:
    'Adds the lists, and an empty file for each window that starts in the future or ends before the first candle of its series. A window that is missing or corrupt is named, and nothing is written then. Nothing is uploaded.',
  examples: ['klines mirror publish', 'klines mirror publish --mirror DIR'],
  flags,
  async run({ options, during, show }) {
    const { publishMirror } = await import('../server/publish.js')
    const { MirrorPublish } = await import('./reports/local.js')
    show(MirrorPublish, await during(PUBLISHING, () => publishMirror(options)))
  },
})
