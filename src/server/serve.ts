import { toSourceName } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
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
 * Serves a mirror from this process: the file tree, the candle viewer, exports and the greeting API. Throws `window_missing` when there is
 * no mirror and no `upstream`, `mirror_mismatch`, and `address_unusable`.
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
  if (!upstream && !exists && source === undefined) {
    throw new KlinesError('window_missing', `There is no mirror at ${root}.`, {
      suggestions: ['Download candles first, or serve with --upstream.'],
    })
  }
  const [{ startServer }, { UPSTREAM_POLICY }] = await Promise.all([import('./server.js'), import('./upstream.js')])
  return startServer({
    ...{ root, host, port, allowHost, streamText, ...hooks },
    warn: message => onEvent?.({ type: 'warning', message }),
    source: upstream ? toSourceName(request.baseUrl) : source,
    upstream: upstream
      ? () => openRun({ ...request, mirror: root, noArchive: true }, { policy: UPSTREAM_POLICY })
      : undefined,
  })
}
