import { toWarn } from '../download/events.js'
import { openMirror, openSource, warnOnce } from '../download/sources/open-source.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import { SAMPLE, toSourceName } from '../http/base-url.js'
import { SAMPLE_ROOT } from '../http/transport/sample-files.js'
import { KlinesError } from '../klines/errors.js'
import type { RunningServer } from './server.js'

/** What to serve, and where. */
export interface ServeRequest extends Pick<SourceOptions, 'baseUrl' | 'mirror' | 'retries' | 'timeout' | 'onEvent'> {
  /** Download windows that are missing or can still change when they are requested. */
  readonly upstream?: boolean | undefined
  /** The address to listen on. Default: 127.0.0.1, this machine alone. */
  readonly host?: string | undefined
  /** 0, the default, picks a free port. */
  readonly port?: number | undefined
  /** The text that the greeting API streams. */
  readonly streamText?: string | undefined
}

/** A server that listens, of `serve`. */
export type Serving = RunningServer

/**
 * Serves a mirror from this process: the file tree, the candle viewer, exports and the greeting API. Throws `window_missing` when there is
 * no mirror and no `upstream`, `mirror_mismatch`, and `address_unusable`.
 *
 * @example
 * const server = await serve({ mirror: 'candles', port: 8787 })
 */
export async function serve(request: ServeRequest = {}): Promise<Serving> {
  const { baseUrl, upstream = false, host, port, streamText } = request
  const sample = baseUrl === SAMPLE && !upstream ? SAMPLE_ROOT : undefined
  const mirror = openMirror({ ...request, mirror: request.mirror ?? sample })
  const warn = warnOnce(toWarn(request))
  if (baseUrl !== undefined) mirror.upkeep.checkBase(toSourceName(baseUrl))
  const meta = mirror.upkeep.readMeta(warn)
  if (!upstream && !mirror.files.exists && meta === undefined) {
    throw new KlinesError('window_missing', `There is no mirror at ${mirror.root}.`, {
      suggestions: ['Download candles first, or set `upstream: true`.'],
    })
  }
  const [{ startServer }, { UPSTREAM_POLICY }] = await Promise.all([
    import('./server.js'),
    import('./tree/upstream.js'),
  ])
  return startServer({
    ...{ root: mirror.root, host, port, streamText, warn },
    baseUrl: upstream ? toSourceName(baseUrl) : meta?.baseUrl,
    upstream: upstream ? memory => openSource(request, { policy: UPSTREAM_POLICY, memory }) : undefined,
  })
}
