import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import Type from 'typebox'
import { warnOnce } from '../../download/sources/open-source.js'
import type { Warn } from '../../download/sources/window-source.js'
import { cleanText } from '../../http/error-body.js'
import { intervalSchema, symbolSchema } from '../../klines-client/schema.js'
import type { Endpoint } from '../docs/openapi.js'
import { HttpError, isFromOtherSite } from '../http/error.js'
import type { Limits } from '../http/limits.js'
import type { Params } from '../http/router.js'
import { acceptsIdentity } from '../http/send-body.js'
import { findSymbols } from '../tree/routes.js'
import type { Tree } from '../tree/tree.js'
import { answerExport } from './answer.js'
import { toExportError } from './errors.js'
import { exportContent } from './media.js'
import { EXTENSIONS, parseParameters, QuerySchema } from './parameters.js'
import { ExportSlots, SlowReaderError } from './slots.js'

/** The endpoint that exports a series. `warn` receives warnings for the operator. */
export function exportEndpoints(tree: Tree, limits: Limits, warn: Warn = () => {}): Endpoint[] {
  const { exportBytesPerSecond: bytesPerSecond, exportPeriodMs: periodMs } = limits
  const slots = new ExportSlots(tree.mirror, { bytesPerSecond, periodMs })
  const warnOperator = warnOnce(warn)
  const handler: Endpoint['handler'] = async (request, response, params) => {
    const left = new AbortController()
    // A response that is queued behind another one gets no 'close' event; its request does.
    for (const side of [request, response]) side.on('close', () => left.abort())
    try {
      const parameters = parseRequest(request, params)
      const served = isFromOtherSite(request) ? tree.mirrored : tree
      // A response that is queued behind another one takes no place: its client reads the other one first.
      if (!response.socket) await once(response, 'socket', { signal: left.signal })
      await slots.run(left.signal, slot => {
        return answerExport(parameters, { ...slot, tree: served, warn: warnOperator }, request, response)
      })
    } catch (error) {
      const failure = toExportError(error, { root: tree.mirror.root })
      const isSlow = error instanceof SlowReaderError
      if (!isSlow && !left.signal.aborted && !response.headersSent) throw failure
      if (isSlow || !left.signal.aborted) warn(describeCut(request, failure as Error))
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
        'A few exports run at once, and others wait for their turn; one that is read too slowly meanwhile is cut. ' +
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
      response: { description: 'The file, as an attachment', content: exportContent(), revalidates: true },
      errors: {
        400: 'A parameter of the query is unknown, repeated or invalid',
        404: 'There is no such symbol, interval or extension, or no candle in the range',
        406: 'Accept-Encoding refuses bytes without a content coding',
        409: 'A window of the range is missing or corrupt: cause names each. Or a decimal does not fit numbers=decimal',
        412: 'If-Match names another version',
        502: 'The service behind this server failed: cause names the windows',
        503: 'Too many exports wait, or the service behind this server limits requests: Retry-After says when to come back',
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
