import * as Args from '@oclif/core/args'
import { KlinesError } from '../candles/errors.js'
import { quoteText } from '../candles/text.js'
import { command } from '../cli/command.js'
import { candleTableFlags } from '../cli/flags/from-table.js'
import { pick } from '../cli/flags/group.js'
import { runFlags } from '../cli/flags/run.js'
import { intervalFlag, rangeFlags } from '../cli/flags/selection.js'
import { locationFlags } from '../cli/flags/service.js'
import { SAMPLE } from '../sources/base-url.js'

const flags = {
  ...intervalFlag('Candle lengths of the mirror, repeated or separated by commas; all for these.'),
  ...rangeFlags,
  ...pick(candleTableFlags, 'resample', 'partial'),
  ...pick(runFlags, 'fail-on-gaps'),
  ...locationFlags,
}

export default command({
  summary: 'Print a fingerprint of candles: which ones exactly.',
  description: `The same candles have the same fingerprint, in the mirror and in every file that klines writes: CSV, JSON, JSON Lines (also compressed), Parquet and Arrow with decimals or text, and lakes, whatever the order of columns, the format of times, the compression and the version. From two series on, the last line is the fingerprint of all of them.

Works offline. If the mirror lacks a window of the range, the exit code is 3. What is short at an end of the range is said on stderr, and is an error only with --fail-on-gaps. A file of doubles has not all digits: it is refused, unless it names the fingerprint of the candles that it was made from, because it was written with --fingerprint.`,
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
  flags,
  advice: 'Nothing was written.',
  async run({
    args: { symbol: names },
    flags: { interval = [], json, verbose, ...flags },
    options,
    given,
    warn,
    print,
  }) {
    const { Fingerprint } = await import('../cli/reports/fingerprint.js')
    const files = findFiles(names, given)
    if (files.length > 0) {
      const { fingerprintFiles } = await import('../identity/fingerprint-files.js')
      return print(Fingerprint, await fingerprintFiles(files, options))
    }
    if (interval.length === 0) {
      const suggestions = ['Name intervals with -i, such as -i 1h, or write a folder as ./FOLDER.']
      throw new KlinesError('bad_option', 'Expected at least one interval of the symbols.', { suggestions })
    }
    const { parseSelectionText } = await import('../engine/selection.js')
    const { fingerprintKlines } = await import('../identity/fingerprint-klines.js')
    const { coverageText } = await import('../cli/reports/coverage.js')
    const partial = flags.resample !== undefined || given.has('partial') ? flags.partial : undefined
    const selection = parseSelectionText(names, interval)
    const found = await fingerprintKlines({ ...options, ...selection, partial, offline: true })
    // Not on stdout, where each line is a fingerprint; the object has it for each series.
    const short = coverageText(found.series, { ...found, verbose })
    if (short !== undefined && !json) warn(short)
    const { SYNTHETIC } = await import('../cli/reports/fields.js')
    if (found.baseUrl === SAMPLE) warn(SYNTHETIC)
    print(Fingerprint, found)
  },
})

/** The arguments that are files. Throws `bad_option` for symbols beside them, and for flags that only candles of the mirror have. */
function findFiles(names: readonly string[], given: ReadonlySet<string>): string[] {
  const files = names.filter(name => /[./\\]/.test(name))
  if (files.length === 0) return []
  const file = quoteText(files[0])
  const symbol = names.find(name => !files.includes(name))
  if (symbol !== undefined) {
    const message = `${quoteText(symbol)} is a symbol, and ${file} a file. Expected only symbols, or only files.`
    throw new KlinesError('bad_option', message, {
      suggestions: [`For a file or a folder of that name, write ./${symbol}`],
    })
  }
  const unused = Object.keys(flags).find(name => given.has(name))
  if (unused === undefined) return files
  const message = `--${unused} is for candles of the mirror, and ${file} is a file.`
  throw new KlinesError('bad_option', message, { suggestions: ['For a symbol, write BTCUSDT, without a slash.'] })
}
