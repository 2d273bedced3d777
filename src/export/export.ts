import type { PictureRequest } from '../chart/svg/picture-options.js'
import type { ReadRequest } from '../download/read.js'
import { checkRange, requestRange } from '../download/request-range.js'
import { parseSelection } from '../download/selection.js'
import { openSource } from '../download/sources/open-source.js'
import type { ProgressCallbacks } from '../download/tally.js'
import { parseThreads, type ThreadOptions } from '../threads/thread-count.js'
import { type ResampleRequest, selectSeries } from './export-series.js'
import type { Compression } from './formats/compression.js'
import type { Format } from './formats/format.js'
import { recoverTargets } from './output/leftovers.js'
import { type NumberType, type OutputColumn, parseRowFormat, type TimeFormat } from './row-format.js'
import { checkTargets, parseTemplate, planTargets } from './targets.js'
import { type ExportReport, writeTargets } from './write.js'

/**
 * Which candles, and the files to write them to. `theme`, `width`, `height` (pixels) and `log` (prices on a logarithmic axis) are
 * for svg only.
 */
export interface ExportRequest extends ReadRequest, ResampleRequest, ProgressCallbacks, PictureRequest, ThreadOptions {
  /** A path with the placeholders `{symbol}` and `{interval}`, or `-` for stdout. */
  readonly output: string
  /** Default: from the extension of `output`; `json` for stdout. */
  readonly format?: Format | undefined
  /** Names and order of the columns; not for svg. Default: the twelve, after `symbol` and `interval` where series share a file. */
  readonly columns?: readonly OutputColumn[] | undefined
  /** Text formats only. Default `ms`. */
  readonly timeFormat?: TimeFormat | undefined
  /** Parquet and Arrow only. Default `double`. */
  readonly numbers?: NumberType | undefined
  /** Parquet only; other formats accept `none`. Default `zstd` where Node has it (22.15 and later), else `gzip`. */
  readonly compression?: Compression | undefined
  /** Replace existing files. */
  readonly force?: boolean | undefined
  /** Make the missing folders of `output` when its files are written; a run that fails removes them again. */
  readonly mkdir?: boolean | undefined
}

/**
 * Downloads what is missing or can still change (unless `offline`) and exports the range. No file is put in place and no byte
 * goes to stdout before every window is there and valid, so a run that lacks one exports nothing. Throws what `downloadKlines` throws,
 * `bad_output`, `output_exists`, `output_unwritable`, and `digits_lost` when a decimal does not fit `numbers: 'decimal'`.
 *
 * @example
 * const { files } = await exportKlines({ symbols: 'all', intervals: ['1d'], output: '{symbol}.parquet', numbers: 'decimal' })
 */
export async function exportKlines(request: ExportRequest): Promise<ExportReport> {
  const selection = parseSelection(request)
  checkRange(request)
  const format = parseTemplate(request.output, request.format)
  const rowFormat = parseRowFormat(request, format.format)
  const threads = parseThreads(request)
  const source = await openSource(request, { memory: new Map() })
  try {
    const range = await requestRange(request, source)
    const series = await selectSeries(request, source, selection, range)
    const targets = planTargets(request.output, format, series)
    await checkTargets(targets, request, paths => recoverTargets(paths, request.warn))
    return await writeTargets({ source, range, series, targets, rowFormat }, { ...request, threads })
  } finally {
    await source.close()
  }
}
