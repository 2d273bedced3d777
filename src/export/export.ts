import type { DownloadRequest } from '../download/download.js'
import type { ReadRequest } from '../download/read.js'
import { checkRange } from '../download/request-range.js'
import { parseSelection } from '../download/selection.js'
import { openSource } from '../download/sources/open-source.js'
import type { Format } from '../options/formats.js'
import type { OutputRequest } from '../options/output-options.js'
import { parseThreads, type ThreadOptions } from '../threads/thread-count.js'
import { checkExcerpt, type ExcerptRequest } from './excerpt.js'
import { planRequest, type RangedRequest, type ResampleRequest } from './export-series.js'
import { GivenStream, type OutputStream } from './output/given-stream.js'
import { checkOutputs, parseTemplate, planOutputs } from './output-spec.js'
import { parseRowFormat } from './row-format.js'
import { type ExportReport, type WriteOptions, writeExport } from './write.js'

/** Which candles, the files to write them to, and what is in these. */
export interface ExportRequest
  extends ReadRequest,
    ResampleRequest,
    ExcerptRequest,
    OutputRequest,
    ThreadOptions,
    Pick<DownloadRequest, 'failOnGaps' | 'fingerprint'> {
  /**
   * A path with the placeholders `{symbol}`, `{base}`, `{quote}` and `{interval}`, `-` for stdout, or a stream of Node or of the web that
   * takes bytes. Missing folders of a path are made; a run that fails removes them again. A stream gets its first byte when every window is there, and is ended after the last one; when the run fails later, it
   * is destroyed. Without a byte it stays as it is.
   */
  readonly output: string | OutputStream
  /** Default: from the extension of `output`; `json` for stdout and a stream. */
  readonly format?: Format | undefined
  /** Replace existing files. */
  readonly force?: boolean | undefined
}

/**
 * Downloads what is missing or can still change (unless `offline`) and exports the range. No file is put in place and no byte
 * goes to stdout before every window is there and valid, so a run that lacks one exports nothing. Throws what `downloadKlines` throws,
 * `bad_output`, `output_exists`, `output_unwritable`, `output_closed` for a stream that is closed early, and `digits_lost` when a decimal does not fit `numbers: 'decimal'`.
 *
 * @example
 * const { files } = await exportKlines({ symbols: 'all', intervals: ['1d'], output: '{symbol}.parquet', numbers: 'decimal' })
 */
export async function exportKlines(request: ExportRequest): Promise<ExportReport> {
  const { output, signal } = request
  if (typeof output === 'string') return exportTo({ ...request, output })
  // The process goes on to use its stdout.
  if (output === process.stdout) return exportTo({ ...request, output: '-' })
  return exportTo({ ...request, output: '-' }, () => new GivenStream(output, signal))
}

/** The same for a path, or with bytes that go to a `sink` instead. */
export async function exportTo(
  request: ExportRequest & RangedRequest & { readonly output: string },
  sink?: WriteOptions['sink'],
): Promise<ExportReport> {
  const selection = parseSelection(request)
  checkRange(request)
  checkExcerpt(request)
  const format = parseTemplate(request.output, request.format)
  const rowFormat = parseRowFormat(request, format.format)
  const threads = parseThreads(request)
  const source = await openSource(request, { memory: new Map() })
  try {
    const planned = await planRequest(request, source, selection, series =>
      checkOutputs(planOutputs(request.output, format, series), request),
    )
    const outputs = planOutputs(request.output, format, planned.series)
    return await writeExport({ source, planned, outputs, rowFormat }, { ...request, sink, threads })
  } finally {
    await source.close()
  }
}
