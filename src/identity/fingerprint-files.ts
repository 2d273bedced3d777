import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import {
  Fingerprinter,
  type FingerprintReport,
  reportFingerprints,
  type SeriesFingerprint,
} from '../rows/fingerprint.js'
import { type CandleFile, openCandleFile } from './candle-file.js'

/** Which files. */
export interface FingerprintFilesOptions {
  readonly signal?: AbortSignal | undefined
}

/** The fingerprint of a series in a file. */
export interface FileFingerprint extends SeriesFingerprint {
  /** As it was given: a file, or the folder of a lake. */
  readonly file: string
  /** Whether the file has doubles, and names the fingerprint of the candles that it was made from: nobody has computed it. */
  readonly isNamed: boolean
}

/**
 * The fingerprints of the candles in files that klines has written: CSV, JSON, JSON Lines, Parquet, Arrow, and the folders of lakes,
 * whatever their compression, order of columns and format of times. Throws `bad_input` for a file that lacks something of a candle, or
 * does not have the candles of a series in order, `damaged_input` for damaged content, `no_candles`, and `bad_option` when two files
 * have the same series.
 *
 * @example
 * const { series, set } = await fingerprintFiles(['BTCUSDT-1h.csv.gz', 'lake'])
 */
export async function fingerprintFiles(
  files: readonly string[],
  { signal }: FingerprintFilesOptions = {},
): Promise<FingerprintReport<FileFingerprint>> {
  const found: FileFingerprint[] = []
  for (const file of files) {
    const candles = await openCandleFile(file)
    const isNamed = candles.named !== undefined
    const fingerprints = candles.named ?? (await fingerprintFile(candles, signal))
    if (fingerprints.length === 0) throw new KlinesError('no_candles', `${file} has no candles.`)
    for (const one of fingerprints) {
      const other = found.find(before => seriesName(before) === seriesName(one))
      if (other) {
        const message = `${other.file} and ${file} both have ${seriesName(one)}. Expected each series once.`
        throw new KlinesError('bad_option', message)
      }
    }
    found.push(...fingerprints.map(fingerprint => ({ ...fingerprint, file, isNamed })))
  }
  return reportFingerprints(found)
}

async function fingerprintFile(candles: CandleFile, signal: AbortSignal | undefined): Promise<SeriesFingerprint[]> {
  const all = new Map<string, Fingerprinter>()
  for await (const batch of candles.batches()) {
    signal?.throwIfAborted()
    const name = seriesName(batch.series)
    const fingerprinter = all.get(name) ?? new Fingerprinter(batch.series)
    all.set(name, fingerprinter)
    fingerprinter.add(batch)
  }
  return [...all.values()].flatMap(fingerprinter => fingerprinter.finish() ?? [])
}
