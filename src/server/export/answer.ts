import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { shortSentences } from '../../download/coverage.js'
import { downloadPlan } from '../../download/download.js'
import { checkRange } from '../../download/request-range.js'
import type { Warn } from '../../download/sources/window-source.js'
import { planRequest } from '../../export/export-series.js'
import type { Output } from '../../export/output/output.js'
import { writeOutputs } from '../../export/write.js'
import type { Mirror } from '../../mirror/mirror.js'
import { CORS_HEADERS } from '../http/error.js'
import { quotable, staleHeaders } from '../tree/routes.js'
import type { Tree } from '../tree/tree.js'
import { mediaType } from './media.js'
import type { ExportParameters } from './parameters.js'
import { openServedSource } from './served-source.js'

/** What an export is answered with. */
export interface ExportContext {
  readonly tree: Tree
  readonly mirror: Mirror
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  readonly warn: Warn
}

/** Checks all windows before the first byte. Throws `HttpError`, `KlinesError`, and the signal's reason when the client leaves. */
export async function answerExport(
  { series, extension, format, gzip, query, rowFormat }: ExportParameters,
  { tree, mirror, signal, warn }: ExportContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  signal.throwIfAborted()
  const range = { ...query, now: tree.now() }
  checkRange(range)
  const source = await openServedSource(tree, mirror, series, warn)
  const planned = await planRequest(range, source, { symbols: [series.symbol], intervals: [series.interval] })
  const [run] = planned.series
  const stale = await source.refresh(run.windows, signal)
  const options = { ...query, signal }
  const report = await downloadPlan(source, planned.plan, { ...options, forExport: true })
  const short = shortSentences(report.series, report.range, source.info).map(text => `299 klines "${quotable(text)}"`)
  const { warning, ...fields } = stale ? staleHeaders(stale) : { 'cache-control': 'no-cache' }
  const warnings = [...(warning ? [warning] : []), ...short].join(', ')
  const ending = `-${run.interval}.${extension}`
  const path = `${series.symbol}${ending}`
  const headers = {
    'content-type': mediaType({ format, gzip }),
    'content-disposition': contentDisposition(path, `candles${ending}`),
    'accept-ranges': 'none',
    'x-content-type-options': 'nosniff',
    ...CORS_HEADERS,
    ...fields,
    ...(warnings && { warning: warnings }),
  }
  const outputs = [{ path, format, gzip, series: planned.series }]
  const sink = () => responseOutput(path, request, response, headers, signal)
  await writeOutputs({ source, planned, outputs, rowFormat }, report, { ...options, sink })
}

/** The body of a response. Its first bytes send the head, so that a failure before them still gets an error response. */
function responseOutput(
  path: string,
  { method }: IncomingMessage,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
  signal: AbortSignal,
): Output {
  // The signal says so too.
  response.on('error', () => {})
  return {
    path,
    bytes: 0,
    finished: undefined,
    async write(chunk) {
      signal.throwIfAborted()
      if (!response.headersSent) response.writeHead(200, headers)
      if (method === 'HEAD') {
        response.end()
        throw new Error('The head is all that HEAD needs.')
      }
      if (!response.write(chunk)) await once(response, 'drain', { signal })
    },
    async finish() {
      signal.throwIfAborted()
      response.end()
      await once(response, 'finish', { signal })
    },
    // A reset: a client must not take a part for the whole file, and in HTTP/1.0 the end of the connection is that of the file.
    async discard() {
      if (response.headersSent && !response.writableEnded) response.socket?.resetAndDestroy()
    },
  }
}

/** RFC 6266: a name with other characters than ASCII has a form of its own, and one for clients that do not know that. */
function contentDisposition(name: string, plainName: string): string {
  if (/^[ -~]+$/.test(name)) return `attachment; filename="${name}"`
  return `attachment; filename="${plainName}"; filename*=UTF-8''${encodeURIComponent(name)}`
}
