import { fingerprintFiles } from '../../candle-files/fingerprint-files.js'
import { parseSelectionText } from '../../engine/selection.js'
import { fingerprintKlines } from '../../identity/fingerprint-klines.js'
import { KlinesError } from '../../klines/errors.js'
import { quoteText } from '../../klines/text.js'
import { SAMPLE } from '../../sources/base-url.js'
import type { RunContext } from '../base-command.js'
import type { FingerprintFlags } from '../flags/fingerprint.js'
import { coverageText } from '../reports/coverage.js'
import { fingerprintReport } from '../reports/fingerprint.js'
import type { Report } from '../reports/report.js'
import { SYNTHETIC } from '../reports/run-text.js'
import type { FingerprintObject } from '../reports/schema.js'
import { resolveRange } from '../resolve-flags.js'
import { warningsTo } from '../terminal/progress.js'

/** What only the mirror's candles have. */
const MIRROR_ONLY = ['interval', 'from', 'to', 'last', 'resample', 'partial', 'fail-on-gaps', 'base-url', 'mirror']

/** `fingerprint`: of series of the mirror, or of files. */
export async function runFingerprint(
  names: string[],
  flags: FingerprintFlags,
  context: RunContext,
): Promise<Report<FingerprintObject>> {
  const files = names.filter(name => /[./\\]/.test(name))
  if (files.length === 0) return fingerprintMirror(names, flags, context)
  const { given, signal } = context
  const symbol = names.find(name => !files.includes(name))
  if (symbol !== undefined) {
    const message = `${quoteText(symbol)} is a symbol, and ${quoteText(files[0])} a file. Expected only symbols, or only files.`
    throw new KlinesError('bad_option', message, {
      suggestions: [`For a file or a folder of that name, write ./${symbol}`],
    })
  }
  const unused = MIRROR_ONLY.find(name => given.has(name))
  if (unused !== undefined) {
    const message = `--${unused} is for candles of the mirror, and ${quoteText(files[0])} is a file.`
    throw new KlinesError('bad_option', message, { suggestions: ['For a symbol, write BTCUSDT, without a slash.'] })
  }
  return fingerprintReport(await fingerprintFiles(files, { signal }))
}

async function fingerprintMirror(
  symbols: string[],
  flags: FingerprintFlags,
  { given, signal, warn }: RunContext,
): Promise<Report<FingerprintObject>> {
  const { interval = [], mirror, resample, json, 'base-url': baseUrl, 'fail-on-gaps': failOnGaps } = flags
  if (interval.length === 0) {
    const suggestions = ['Name intervals with -i, such as -i 1h, or write a folder as ./FOLDER.']
    throw new KlinesError('bad_option', 'Expected at least one interval of the symbols.', { suggestions })
  }
  const partial = resample !== undefined || given.has('partial') ? flags.partial : undefined
  const report = await fingerprintKlines({
    ...parseSelectionText(symbols, interval),
    ...resolveRange(flags, given),
    ...{ baseUrl, mirror, resample, partial, failOnGaps, offline: true, signal, onEvent: warningsTo(warn) },
  })
  // Not on stdout, where each line is a fingerprint; the object has it for each series.
  const short = coverageText(report.series, { ...report, verbose: flags.verbose })
  if (short !== undefined && !json) warn(short)
  if (report.baseUrl === SAMPLE) warn(SYNTHETIC)
  return fingerprintReport(report)
}
