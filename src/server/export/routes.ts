import type { IncomingMessage } from 'node:http'
import Type from 'typebox'
import { warnOnce } from '../../download/sources/open-source.js'
import type { Warn } from '../../download/sources/window-source.js'
import { cleanText } from '../../http/error-body.js'
import { intervalSchema, symbolSchema } from '../../klines-client/schema.js'
import { Mirror } from '../../mirror/mirror.js'
import type { Endpoint } from '../docs/openapi.js'
import { HttpError, isFromOtherSite } from '../http/error.js'
import type { Params } from '../http/router.js'
import { acceptsIdentity } from '../http/send-body.js'
import { findSymbols } from '../tree/routes.js'
import type { Tree } from '../tree/tree.js'
import { answerExport } from './answer.js'
import { toExportError } from './errors.js'
import { exportContent } from './media.js'
import { EXTENSIONS, parseParameters, QuerySchema } from './parameters.js'

/** Exports at the same time; others wait for their turn. Each takes up to some 50 MB, and all share one thread. */
const EXPORTS_AT_ONCE = 4

/** The endpoint that exports a series. `warn` receives warnings for the operator. */
export function exportEndpoints(tree: Tree, warn: Warn = () => {}): Endpoint[] {
  const warnOperator = warnOnce(warn)
  // One for each export: windows are read into its memory.
  const free = Array.from({ length: EXPORTS_AT_ONCE }, () => new Mirror(tree.mirror.root, tree.mirror.baseUrl))
  const waiting: ((mirror: Mirror) => void)[] = []
  const handler: Endpoint['handler'] = async (request, response, params) => {
    const left = new AbortController()
    // A response that is queued behind another one gets no 'close' event; its request does.
    for (const side of [request, response]) side.on('close', () => left.abort())
    try {
      const parameters = parseRequest(request, params)
      const served = isFromOtherSite(request) ? tree.mirrored : tree
      const mirror = free.pop() ?? (await new Promise<Mirror>(resolve => waiting.push(resolve)))
      try {
        const context = { tree: served, mirror, signal: left.signal, warn: warnOperator }
        await answerExport(parameters, context, request, response)
      } finally {
        const next = waiting.shift()
        if (next) next(mirror)
        else free.push(mirror)
      }
    } catch (error) {
      // The client has left, or has the head that HEAD asks for.
      if (left.signal.aborted || response.writableEnded) return
      const failure = toExportError(error, { root: tree.mirror.root })
      if (!response.headersSent) throw failure
      warn(describeCut(request, failure as Error))
    }
  }
  return [
    {
      method: 'GET',
      path: '/export/{interval}/{symbol}.{extension}',
      route: '/export/{interval}/{file}',
      operationId: 'exportCandles',
      summary: 'The candles of a series as one file',
      description:
        'The bytes that klines export writes, streamed. Every window is checked before the first byte, so the file is whole ' +
        'or there is none; a connection that is cut means that it is not whole. Without from, to and last it has all candles. ' +
        'What the series lacks at an end of the range that was named is said in a Warning header, with the code 299. ' +
        'A few exports run at once, and others wait for their turn. ' +
        'Range requests are ignored, and there is no content coding.',
      tag: 'export',
      params: Type.Object({
        interval: intervalSchema(tree.mirror.contents.intervals()),
        symbol: symbolSchema(findSymbols(tree.mirror)),
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
        503: 'The service behind this server limits requests: Retry-After says when to come back',
        504: 'The service behind this server did not answer in time: cause names the windows',
      },
      handler,
    },
  ]
}

function parseRequest({ url = '', headers }: IncomingMessage, { interval, file }: Params) {
  if (!acceptsIdentity(headers['accept-encoding'])) {
    throw new HttpError(406, 'An export has no content coding, and Accept-Encoding refuses identity.')
  }
  const query = url.indexOf('?')
  return parseParameters(interval, file, new URLSearchParams(query === -1 ? '' : url.slice(query)))
}

function describeCut({ method, url = '' }: IncomingMessage, { message }: Error): string {
  return `The response to ${method} ${cleanText(url, 200)} was cut: ${message}`
}
