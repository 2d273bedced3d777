import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { shortSentences } from '../engine/coverage.js'
import { noMinutes } from '../engine/errors.js'
import { exportTo } from '../engine/export.js'
import { knownSource } from '../engine/known-source.js'
import type { Output } from '../engine/output/output.js'
import { planRequest } from '../engine/plan.js'
import type { DownloadReport } from '../engine/report.js'
import { mirrorRun, type Run } from '../engine/run.js'
import type { Plan } from '../engine/series-plan.js'
import { cleanText } from '../sources/error-body.js'
import { CORS_HEADERS, HttpError } from './errors.js'
import {
  EXTENSIONS,
  type ExportParameters,
  exportContent,
  mediaType,
  parseParameters,
  QuerySchema,
  toExportError,
} from './export-query.js'
import { isFromOtherSite } from './hosts.js'
import type { Api } from './openapi.js'
import { acceptsIdentity } from './send.js'
import type { Tree } from './tree.js'
import { intervalSchema, quotable, staleHeaders, symbolSchema } from './tree-api.js'

/** Exports at the same time. Each takes up to some 50 MB, and all share one thread. */
const EXPORTS_AT_ONCE = 4

/** The export of a series. `warn`: hears of exports that were cut. */
export function exportApi(tree: Tree, warn: (warning: string) => void): Api {
  let running = 0
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const left = new AbortController()
    // A response that is queued behind another one gets no 'close' event; its request does.
    for (const side of [request.raw, reply.raw]) side.on('close', () => left.abort())
    if (!acceptsIdentity(request.headers['accept-encoding'])) {
      throw new HttpError(406, 'An export has no content coding, and Accept-Encoding refuses identity.')
    }
    const { interval, file } = request.params as { interval: string; file: string }
    const parameters = parseParameters(interval, file, request.query as Record<string, unknown>)
    if (running === EXPORTS_AT_ONCE) {
      const message = `This server sends ${EXPORTS_AT_ONCE} exports at once. Try again in a few seconds.`
      throw new HttpError(503, message, { headers: { 'retry-after': '3' } })
    }
    running++
    try {
      await sendExport(parameters, { tree, signal: left.signal, warn, mayAsk: !isFromOtherSite(request.raw) }, reply)
    } catch (error) {
      const isOver = left.signal.aborted || reply.raw.writableEnded
      const failure = toExportError(error, { root: tree.mirror.root }) as Error
      // The client has left, or has the head that HEAD asks for.
      if (isOver) reply.hijack()
      else if (!reply.raw.headersSent) throw failure
      else warn(describeCut(request.raw, failure))
    } finally {
      running--
    }
  }
  return {
    info: {
      title: 'klines export API',
      version: '1.0.0',
      description:
        'The candles of a series as one file: CSV, JSON, JSON Lines, Parquet or Arrow, with the range, columns ' +
        'and interval that the query names. All times are UTC.',
    },
    tags: { export: 'Files of candles', meta: 'This description' },
    specTag: 'meta',
    routes: [{ method: 'GET', url: '/export/:interval/:file', handler }],
    operations: () => [
      {
        method: 'get',
        path: '/export/{interval}/{symbol}.{extension}',
        operationId: 'exportCandles',
        summary: 'The candles of a series as one file',
        description:
          'The bytes that klines export writes, streamed. Every window is checked before the first byte, so the file is whole ' +
          'or there is none; a connection that is cut means that it is not whole. Without from, to and last it has all candles. ' +
          'What the series lacks at an end of the range that was named is said in a Warning header, with the code 299. ' +
          'Range requests are ignored, and there is no content coding.',
        tag: 'export',
        params: Type.Object({
          interval: intervalSchema(tree.mirror.intervals),
          symbol: symbolSchema(tree.mirror),
          extension: Type.Enum([...EXTENSIONS], {
            type: 'string',
            description: 'Format of the file; text formats also compressed with gzip',
            examples: ['csv'],
          }),
        }),
        query: QuerySchema,
        response: { description: 'The file, as an attachment', content: exportContent() },
        errors: {
          400: 'A parameter of the query is unknown, repeated or invalid',
          404: 'There is no such symbol, interval or extension, or no candle in the range',
          406: 'Accept-Encoding refuses bytes without a content coding',
          409: 'A window of the range is missing or corrupt: cause names each. Or a decimal does not fit numbers=decimal',
          502: 'The service behind this server failed: cause names the windows',
          503: 'Too many exports are being sent, or the service behind this server limits requests: Retry-After says when to come back',
          504: 'The service behind this server did not answer in time: cause names the windows',
        },
      },
    ],
  }
}

interface ExportContext {
  readonly tree: Tree
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  readonly warn: (warning: string) => void
  /** Whether the service behind the server may be asked. */
  readonly mayAsk: boolean
}

/**
 * Checks all windows before the first byte. Where the service behind the server fails, what is cached is sent with a warning, if it is
 * enough. Throws `HttpError`, `KlinesError`, and the signal's reason when the client leaves.
 */
async function sendExport(
  { series: { symbol, interval }, extension, query, ...format }: ExportParameters,
  { tree: { mirror, now, upstream }, signal, warn, mayAsk }: ExportContext,
  reply: FastifyReply,
): Promise<void> {
  const request = { ...query, symbols: [symbol], intervals: [interval], signal, output: `${symbol}.${extension}` }
  const write = (run: Run, problem?: HttpError) => {
    let plan: Plan
    const sink = (report: DownloadReport) => {
      const { warning, ...fields } = problem ? staleHeaders(problem) : { 'cache-control': 'no-cache' }
      const short = shortSentences(report.series, report.range).map(text => `299 klines "${quotable(text)}"`)
      const warnings = [...(warning ? [warning] : []), ...short].join(', ')
      const headers = {
        'content-type': mediaType(format),
        'content-disposition': contentDisposition(symbol, `-${plan.series[0].label.interval}.${extension}`),
        'accept-ranges': 'none',
        'x-content-type-options': 'nosniff',
        ...CORS_HEADERS,
        ...fields,
        ...(warnings && { warning: warnings }),
      }
      return responseOutput(reply, headers, signal)
    }
    const planOnce = async () => {
      // Where the service cannot be asked, its lists are as they were.
      plan = await planRequest(request, problem ? { ...run, source: knownSource(mirror, now) } : run)
      return plan
    }
    return exportTo(request, sink, planOnce, async () => run)
  }
  signal.throwIfAborted()
  const offline = mirrorRun(mirror, { now, signal, warn })
  if (!(upstream && mayAsk)) {
    if (!mirror.intervals.includes(interval)) throw new HttpError(404, noMinutes(interval, 'This server').message)
    return void (await write(offline))
  }
  try {
    // The run stays open for others.
    await upstream.use(run => write({ ...run, signal, warn, close: async () => {} }))
  } catch (error) {
    const problem = isKlinesError(error, 'incomplete') ? error.cause : error
    if (signal.aborted || reply.raw.headersSent || !(problem instanceof HttpError)) throw error
    await write(offline, problem).catch(failure => {
      if (reply.raw.headersSent) throw failure
      const isNamed = error === problem && problem.statusCode !== 503 && isKlinesError(failure, 'incomplete')
      if (!isNamed) throw error
      throw new KlinesError('incomplete', `${problem.message} ${failure.message}`, { ...failure, cause: problem })
    })
  }
}

/** The body of a response. Its first bytes send the head, so that a failure before them still gets an error response. */
function responseOutput(reply: FastifyReply, headers: OutgoingHttpHeaders, signal: AbortSignal): Output {
  const response: ServerResponse = reply.raw
  // The signal says so too.
  response.on('error', () => {})
  return {
    path: '-',
    bytes: 0,
    finished: undefined,
    async write(chunk) {
      signal.throwIfAborted()
      if (!response.headersSent) {
        reply.hijack()
        response.writeHead(200, headers)
      }
      if (reply.request.method === 'HEAD') {
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
function contentDisposition(symbol: string, ending: string): string {
  if (/^[ -~]+$/.test(symbol)) return `attachment; filename="${symbol}${ending}"`
  return `attachment; filename="candles${ending}"; filename*=UTF-8''${encodeURIComponent(symbol + ending)}`
}

function describeCut({ method, url = '' }: IncomingMessage, { message }: Error): string {
  return `The response to ${method} ${cleanText(url, 200)} was cut: ${message}`
}
