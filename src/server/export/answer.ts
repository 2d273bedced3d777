import type { IncomingMessage, ServerResponse } from 'node:http'
import { shortSentences } from '../../download/coverage.js'
import { downloadPlan } from '../../download/download.js'
import { checkRange } from '../../download/request-range.js'
import type { Warn } from '../../download/sources/window-source.js'
import type { DownloadReport } from '../../download/tally.js'
import { planRequest } from '../../export/export-series.js'
import { writeOutputs } from '../../export/write.js'
import { CORS_HEADERS } from '../http/error.js'
import { checkMatch, isFresh } from '../http/preconditions.js'
import { quotable, staleHeaders } from '../tree/routes.js'
import type { Tree } from '../tree/tree.js'
import { exportTag } from './etag.js'
import { mediaType } from './media.js'
import type { ExportParameters } from './parameters.js'
import { ResponseOutput } from './response-output.js'
import { openServedSource, type ServedSource } from './served-source.js'
import type { ExportSlot } from './slots.js'

/** What an export is answered with. */
export interface ExportContext extends ExportSlot {
  readonly tree: Tree
  readonly warn: Warn
}

/** The head was sent: all that HEAD needs. */
const HEAD_SENT = new Error('The head was sent.')

/**
 * Answers GET and HEAD with an export. All windows are checked before the first byte; what fails after it cuts the connection.
 * Throws `HttpError`, `KlinesError`, and the signal's reason when the client leaves.
 */
export async function answerExport(
  parameters: ExportParameters,
  { tree, mirror, pace, signal, warn }: ExportContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { series, rangeText, resampling, excerpt, rowFormat, format, gzip } = parameters
  const { headers: fields } = request
  const range = { ...rangeText, now: tree.now() }
  checkRange(range)
  const source = await openServedSource(tree, mirror, series, warn)
  const selection = { symbols: [series.symbol], intervals: [series.interval] }
  const planned = await planRequest({ ...range, ...resampling }, source, selection)
  const [run] = planned.series
  await source.fetches?.refresh(planned.plan, signal)
  const versions = source.versions.record(run.windows)
  const etag = await exportTag(source, { parameters, range: planned.plan.range, run, versions })
  const validators = { etag, lastModified: undefined }
  const isConditional = fields['if-none-match'] !== undefined && fields['if-match'] === undefined
  const cached = { etag, 'cache-control': 'no-cache', ...CORS_HEADERS, ...findWarning(source) }
  // The client has a file of these very versions, so they are valid. What `*` means is known after the check.
  if (isConditional && fields['if-none-match'] !== '*' && isFresh(fields, validators)) {
    response.writeHead(304, cached).end()
    return
  }
  const { partial } = resampling
  const report = await downloadPlan(source, planned.plan, { signal, forExport: true, partial })
  checkMatch(fields, validators)
  const ending = `-${run.interval}.${parameters.extension}`
  const path = `${series.symbol}${ending}`
  const headers = {
    'content-type': mediaType(parameters),
    'content-disposition': contentDisposition(path, `candles${ending}`),
    'accept-ranges': 'none',
    'x-content-type-options': 'nosniff',
    ...cached,
    ...findWarning(source, report),
  }
  const output = new ResponseOutput(path, response, () => response.writeHead(200, headers), pace, signal)
  const sink = () => {
    // There is a row, so the response is one with a file.
    const isUnmodified = isFresh(fields, validators)
    if (request.method === 'GET' && !isUnmodified) return output
    response.writeHead(isUnmodified ? 304 : 200, isUnmodified ? cached : headers).end()
    throw HEAD_SENT
  }
  const outputs = [{ path, format, gzip, series: planned.series }]
  try {
    await writeOutputs({ source, planned, outputs, rowFormat }, report, { partial, ...excerpt, signal, sink })
  } catch (error) {
    if (error !== HEAD_SENT) throw error
  }
}

/** RFC 6266: a name with other characters than ASCII has a form of its own, and one for clients that do not know that. */
function contentDisposition(name: string, plainName: string): string {
  if (/^[ -~]+$/.test(name)) return `attachment; filename="${name}"`
  return `attachment; filename="${plainName}"; filename*=UTF-8''${encodeURIComponent(name)}`
}

/**
 * The header field for an export of cached windows that could not be revalidated. With the report of its windows, also for one of less
 * than was requested: 299 is a warning that lasts (RFC 7234, 5.5.7).
 */
function findWarning({ fetches, info }: ServedSource, report?: DownloadReport): Record<string, string> {
  const stale = fetches?.warning ? staleHeaders(fetches.warning) : {}
  const short = report ? shortSentences(report.series, report.range, info) : []
  if (short.length === 0) return stale
  const texts = short.map(text => `299 klines "${quotable(text)}"`)
  return { ...stale, warning: [...(stale.warning ? [stale.warning] : []), ...texts].join(', ') }
}
