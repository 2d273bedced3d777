import { toSourceName } from '../candles/base-url.js'
import { openRun, type SourceOptions } from '../engine/run.js'
import { openMirror } from '../mirror/user-mirrors.js'
import type { ServerOptions, Serving } from './server.js'

/** What to serve, and where. */
export interface ServeRequest
  extends Pick<SourceOptions, 'baseUrl' | 'mirror' | 'retries' | 'timeout' | 'onEvent'>,
    Pick<ServerOptions, 'host' | 'port' | 'allowHost' | 'streamText'> {
  /** Download windows that are missing or can still change when they are requested. */
  readonly upstream?: boolean | undefined
}

/**
 * Serves a mirror from this process: the file tree, the candle viewer, exports and the greeting API. A mirror may begin to exist meanwhile;
 * a `warning` event says where none is. Throws `bad_option`, `mirror_mismatch`, `mirror_unusable` and `address_unusable`.
 *
 * @param hooks for `klines serve`: its log
 * @example
 * const server = await serve({ mirror: 'candles', port: 8787 })
 */
export async function serve(
  request: ServeRequest = {},
  hooks: Pick<ServerOptions, 'onError' | 'log'> = {},
): Promise<Serving> {
  const { upstream = false, host, port, allowHost, streamText, onEvent } = request
  const { root, source, exists } = openMirror(request)
  const warn = (message: string) => onEvent?.({ type: 'warning', message })
  const advice = 'Fill it with klines download and the same --mirror, also while this server runs'
  const noMirror = `There is no mirror at ${root} yet. ${advice}; with --upstream it downloads what is asked for.`
  if (!upstream && !exists) warn(noMirror)
  const [{ startServer }, { UPSTREAM_POLICY }] = await Promise.all([import('./server.js'), import('./upstream.js')])
  return startServer({
    ...{ root, host, port, allowHost, streamText, ...hooks },
    warn,
    source: upstream || !exists ? toSourceName(request.baseUrl) : source,
    upstream: upstream
      ? () => openRun({ ...request, mirror: root, noArchive: true }, { policy: UPSTREAM_POLICY })
      : undefined,
  })
}
