import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import type { ReadRequest } from '../engine/klines.js'
import { noWholeCandle } from '../engine/no-candles.js'
import { planRequest } from '../engine/plan.js'
import { type ReadOptions, readPlan } from '../engine/read.js'
import { checkGone, Tally } from '../engine/report.js'
import { openRun, type Run, withRun } from '../engine/run.js'
import { type CandleFile, openCandleFile } from '../formats/read/candle-file.js'
import { isFolder } from '../formats/read/errors.js'
import { openLakeCandles } from '../lake/folder.js'
import { joinNames } from '../mirror/errors.js'
import {
  Fingerprinter,
  type FingerprintReport,
  reportFingerprints,
  type SeriesFingerprint,
} from '../rows/fingerprint.js'

/** The fingerprint of each series of a range, and how much of it there is. */
export type RangeFingerprints = Awaited<ReturnType<typeof fingerprintKlines>>

/**
 * The fingerprint of each series of a range, and that of all of them: a short text that stands for exactly these candles, whatever file
 * they are in. Downloads what is missing or can still change, unless `offline`. Throws what `exportKlines` throws about the request,
 * `incomplete` (also for gaps, with `failOnGaps`) and `no_candles`.
 *
 * @example
 * const { series } = await fingerprintKlines({ symbols: ['BTCUSDT'], intervals: ['1h'], from: '2024', to: '2025' })
 * console.log(series[0].fingerprint) // klines:1:9f2c...
 */
export async function fingerprintKlines(request: ReadRequest) {
  return withRun(openRun(request), async run => {
    const plan = await planRequest(request, run)
    const tally = new Tally(plan, run)
    const found = await fingerprintSeries(run, tally, { partial: request.partial })
    const report = await tally.report(request)
    const series = found.flatMap((one, index) => (one ? [{ ...one, coverage: report.series[index].coverage }] : []))
    if (series.length === 0) throw noWholeCandle(plan.series)
    const empty = plan.series.filter((_, index) => found[index] === undefined).map(({ label }) => seriesName(label))
    if (empty.length > 0) run.warn(`No candles in the range: ${joinNames(empty)}.`)
    checkGone(plan, run)
    return { ...reportFingerprints(series), baseUrl: report.baseUrl, range: plan.range }
  })
}

/** The fingerprint of each series of a plan; undefined for one without candles. */
export async function fingerprintSeries(run: Run, tally: Tally, options: ReadOptions) {
  const found: (SeriesFingerprint | undefined)[] = []
  for await (const [{ label }, batches] of readPlan(run, tally, options)) {
    const fingerprinter = new Fingerprinter(label)
    for await (const batch of batches) fingerprinter.add(batch)
    found.push(fingerprinter.finish())
  }
  return found
}

export async function openCandles(path: string): Promise<CandleFile> {
  return isFolder(path) ? openLakeCandles(path) : openCandleFile(path)
}

export interface FileFingerprint extends SeriesFingerprint {
  readonly file: string
  /** Whether the file has doubles, and names the fingerprint of the candles that it was made from. */
  readonly named: boolean
}

/**
 * The fingerprints of the candles in files and lakes that klines has written. Throws `bad_input` for a file that lacks something of a
 * candle, `damaged_input` for damaged content, `no_candles`, and `bad_option` when two files have the same series.
 *
 * @example
 * const { series, set } = await fingerprintFiles(['BTCUSDT-1h.csv.gz', 'lake'])
 */
export async function fingerprintFiles(
  files: readonly string[],
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<FingerprintReport<FileFingerprint>> {
  const found: FileFingerprint[] = []
  for (const file of files) {
    const { named, batches } = await openCandles(file)
    const all = new Map<string, Fingerprinter>()
    for await (const batch of named ? [] : batches()) {
      signal?.throwIfAborted()
      const name = seriesName(batch.series)
      const fingerprinter = all.get(name) ?? new Fingerprinter(batch.series)
      all.set(name, fingerprinter)
      fingerprinter.add(batch)
    }
    const fingerprints = named ?? [...all.values()].flatMap(fingerprinter => fingerprinter.finish() ?? [])
    if (fingerprints.length === 0) throw new KlinesError('no_candles', `${file} has no candles.`)
    found.push(...fingerprints.map(one => ({ ...one, file, named: named !== undefined })))
  }
  return reportFingerprints(found)
}
