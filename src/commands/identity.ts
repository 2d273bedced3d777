import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { EXIT_CODES, isKlinesError } from '../candles/errors.js'
import { quoteText } from '../candles/text.js'
import { command, refuse, refuseJson } from '../cli/command.js'
import { VERDICT_EXIT_CODES } from '../cli/error-report.js'
import { candleTableFlags, inGroup, pick } from '../cli/flags/group.js'
import { outputFlag } from '../cli/flags/output.js'
import {
  fetchFlags,
  intervalFlag,
  locationFlags,
  rangeFlags,
  runFlags,
  selectionFlags,
  symbolArgs,
} from '../cli/flags/shared.js'
import { isStdout } from '../fs/links.js'
import type { FileFingerprint } from '../identity/fingerprint.js'

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

Works offline. If the mirror lacks a window of the range, the exit code is 3. What is short at an end of the range is said on stderr, and is an error only with --fail-on-gaps. A file of doubles lacks digits: it is refused, unless it is a Parquet file written with --fingerprint. The others are printed all the same.`,
  examples: [
    'klines fingerprint BTCUSDT -i 1h --from 2024 --to 2025',
    'klines fingerprint all -i all --json',
    'klines fingerprint BTCUSDT-1h.csv.gz ETHUSDT-1h.parquet lake/',
  ],
  args: {
    symbol: Args.string({
      description: 'Trading pairs of the mirror, or files and lakes: an argument with a point or a slash is a file.',
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
      const { reportFingerprints } = await import('../rows/fingerprint.js')
      const series: FileFingerprint[] = []
      for (const file of files) {
        try {
          series.push(...(await fingerprintFiles([file], options)).series)
        } catch (error) {
          if (!isKlinesError(error) || (series.length === 0 && file === files.at(-1))) throw error
          warn([error.message, ...error.suggestions].join(' '), true)
          process.exitCode = EXIT_CODES[error.code]
        }
      }
      return print(Fingerprint, reportFingerprints(series))
    }
    const { interval = [], resample, verbose } = flags
    if (interval.length === 0) {
      const advice = 'Name intervals with -i, such as -i 1h, or write a folder as ./FOLDER.'
      throw refuse('Expected at least one interval of the symbols.', advice)
    }
    const { fingerprintKlines } = await import('../identity/fingerprint.js')
    const { coverageText, sourceNote } = await import('../cli/fields.js')
    const partial = resample !== undefined || given.has('partial') ? flags.partial : undefined
    const request = { ...options, symbols: names, intervals: interval, partial, offline: true }
    const found = await fingerprintKlines(request)
    // Not on stdout, where each line is a fingerprint.
    const short = coverageText(found.series, { ...found, verbose })
    if (short !== undefined) warn(short, true)
    for (const note of sourceNote(found.baseUrl)) warn(note)
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
      force: Flags.boolean({ summary: 'Replace an existing file.' }),
    }),
    ...locationFlags,
  },
  async run({ args, flags: { interval, output, json }, options, warn, during, show }) {
    if (output !== undefined && isStdout(output) && json) throw refuseJson('lock')
    const { lockKlines } = await import('../identity/lock.js')
    const { LockSummary } = await import('./reports/lock.js')
    const { sourceNote } = await import('../cli/fields.js')
    const { READING } = await import('../cli/terminal/progress-text.js')
    const request = { ...options, symbols: args.symbol, intervals: interval }
    const lock = await during(READING, () => lockKlines(request))
    for (const note of sourceNote(lock.baseUrl)) warn(note)
    if (lock.path !== '-') show(LockSummary, lock)
  },
})

const DOWNLOADING = { start: 'Reading both sides', verb: 'Downloading', noun: 'window' }
const COMPARING = { start: 'Reading both sides', verb: 'Comparing', noun: 'series' }
/** Differences of a series that are shown without `-v`. */
const MAX_LISTED = 20

const side = {
  description: 'A mirror, a lake, a file, binance, or a base address.',
  required: true,
  ignoreStdin: true,
} as const

export const diff = command({
  summary: 'Compare the candles of two mirrors, lakes, files or services.',
  description: `Compares all candles of both sides: prints the verdict, then the candles that only one side has and the cells that differ, of each series the first 20, with -v all. 1.50 equals 1.5, and the column ignore is left out.

Beside a file or a lake, a mirror has only the series of that. A service, which is binance or a base address, is asked for every window, also for final ones in its mirror, and nothing is stored. It is compared from the first to the last candle of the other side unless --from and --to say otherwise.

Where a window of a mirror is missing or corrupt, nothing is compared. Files of doubles are refused, because they lack digits.
Exit codes: 0 equal, 3 windows are missing and all else is equal, or neither side has a series that is named, 4 no candle in the range, 6 candles differ.`,
  examples: [
    'klines diff mirror-2024/ mirror-2025/',
    'klines diff btcusdt-1h.csv lake/ --from 2024 --to 2025 -v',
    'klines diff candles/ binance BTCUSDT -i 1h,1d --json',
  ],
  args: {
    a: Args.string(side),
    b: Args.string(side),
    symbol: Args.string({
      description: "Only these trading pairs; quoted patterns such as '*USDT'.",
      multiple: true,
      ignoreStdin: true,
    }),
  },
  flags: {
    ...intervalFlag('Only candles of these lengths, repeated or separated by commas. Default: all.'),
    ...rangeFlags,
    ...fetchFlags,
  },
  async run({ args: { a, b, symbol = [] }, flags: { interval = [], verbose }, options, during, print }) {
    const { diffKlines, isService } = await import('../identity/diff.js')
    const { DiffReport } = await import('./reports/diff.js')
    const most = verbose ? Infinity : MAX_LISTED
    const request = { ...options, sides: [a, b], symbols: symbol, intervals: interval, most } as const
    const words = [a, b].some(isService) ? DOWNLOADING : COMPARING
    const found = await during(words, () => diffKlines(request))
    print(DiffReport, found)
    process.exitCode = VERDICT_EXIT_CODES[found.verdict]
  },
})
