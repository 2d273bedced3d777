import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { quoteText } from '../candles/text.js'
import { command, refuse, refuseJson } from '../cli/command.js'
import { candleTableFlags, inGroup, pick } from '../cli/flags/group.js'
import { outputFlag } from '../cli/flags/output.js'
import { intervalFlag, locationFlags, rangeFlags, runFlags, selectionFlags, symbolArgs } from '../cli/flags/shared.js'
import { SAMPLE } from '../sources/base-url.js'

const mirrorFlags = {
  ...intervalFlag('Candle lengths of the mirror, repeated or separated by commas; all for these.'),
  ...rangeFlags,
  ...pick(candleTableFlags, 'resample', 'partial'),
  ...pick(runFlags, 'fail-on-gaps'),
  ...locationFlags,
}

export const fingerprint = command({
  summary: 'Print a fingerprint of candles: which ones exactly.',
  description: `The same candles have the same fingerprint, in the mirror and in every file that klines writes, whatever its format, its columns' order and its compression. From two series on, the last line is the fingerprint of all of them.

Works offline. If the mirror lacks a window of the range, the exit code is 3. What is short at an end of the range is said on stderr, and is an error only with --fail-on-gaps. A file of doubles lacks digits: it is refused, unless it was written with --fingerprint.`,
  examples: [
    'klines fingerprint BTCUSDT -i 1h --from 2024 --to 2025',
    'klines fingerprint all -i all --json',
    'klines fingerprint BTCUSDT-1h.csv.gz ETHUSDT-1h.parquet lake/',
  ],
  args: {
    symbol: Args.string({
      description:
        'Trading pairs of the mirror, or files and lakes that klines wrote: an argument with a point or a slash is a file.',
      multiple: true,
      required: true,
    }),
  },
  flags: mirrorFlags,
  async run({ args: { symbol: names }, flags, options, given, warn, print }) {
    const { Fingerprint } = await import('./reports/lock.js')
    const files = findFiles(names, given)
    if (files.length > 0) {
      const { fingerprintFiles } = await import('../identity/fingerprint.js')
      return print(Fingerprint, await fingerprintFiles(files, options))
    }
    const { interval = [], resample, json, verbose } = flags
    if (interval.length === 0) {
      const advice = 'Name intervals with -i, such as -i 1h, or write a folder as ./FOLDER.'
      throw refuse('Expected at least one interval of the symbols.', advice)
    }
    const { fingerprintKlines } = await import('../identity/fingerprint.js')
    const { coverageText, SYNTHETIC } = await import('../cli/fields.js')
    const partial = resample !== undefined || given.has('partial') ? flags.partial : undefined
    const request = { ...options, symbols: names, intervals: interval, partial, offline: true }
    const found = await fingerprintKlines(request)
    // Not on stdout, where each line is a fingerprint; the object has it for each series.
    const short = coverageText(found.series, { ...found, verbose })
    if (short !== undefined && !json) warn(short)
    if (found.baseUrl === SAMPLE) warn(SYNTHETIC)
    print(Fingerprint, found)
  },
})

/** The arguments that are files. Throws `bad_option` for symbols beside them, and for flags that only candles of the mirror have. */
function findFiles(names: readonly string[], given: ReadonlySet<string>): string[] {
  const files = names.filter(name => /[./\\]/.test(name))
  const symbol = names.find(name => !files.includes(name))
  const unused = symbol ?? Object.keys(mirrorFlags).find(name => given.has(name))
  if (files.length === 0 || unused === undefined) return files
  const what = symbol === undefined ? `--${unused} is for candles of the mirror` : `${quoteText(symbol)} is a symbol`
  const message = `${what}, and ${quoteText(files[0])} a file. Expected only symbols, or only files.`
  throw refuse(message, 'Write a symbol as BTCUSDT, without a slash, and a file or folder of such a name as ./BTCUSDT.')
}

export const lock = command({
  summary: 'Write a lock file: which candles of the mirror a result rests on.',
  description: `A lock has the fingerprint of each series: klines download --lock gets exactly these candles on another machine, or says which years differ.

Only candles that can no longer change are locked: each series ends with its last one whose window was rendered, or sent by the exchange, a day or more after the candle's end. Works offline. If the mirror lacks a window of the range, the exit code is 3.`,
  examples: [
    'klines lock BTCUSDT ETHUSDT -i 1h,1d --from 2022',
    'klines lock all -i all -o data.lock.json --force',
    'klines download --lock klines.lock.json',
    'klines verify --lock klines.lock.json',
  ],
  args: symbolArgs,
  flags: {
    ...selectionFlags,
    ...inGroup('output', {
      // KLINES_OUTPUT is the file of candles.
      output: outputFlag({
        summary: 'File to write; - for stdout. Default: klines.lock.json.',
        env: 'KLINES_LOCK_OUTPUT',
      }),
      force: Flags.boolean({ summary: 'Replace an existing file, and say what changed.' }),
    }),
    ...locationFlags,
  },
  async run({ args, flags: { interval, output, json }, options, warn, during, show }) {
    if (output === '-' && json) throw refuseJson('lock')
    const { lockKlines } = await import('../identity/lock.js')
    const { LockSummary } = await import('./reports/lock.js')
    const { SYNTHETIC } = await import('../cli/fields.js')
    const { READING } = await import('../cli/terminal/progress-text.js')
    const request = { ...options, symbols: args.symbol, intervals: interval }
    const lock = await during(READING, events => lockKlines({ ...request, ...events }))
    if (lock.baseUrl === SAMPLE) warn(SYNTHETIC)
    if (output !== '-') show(LockSummary, lock)
  },
})
