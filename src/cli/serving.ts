import { once } from 'node:events'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SAMPLE, toSourceName } from '../candles/base-url.js'
import { describeOtherMirrors, noMirror, openMirror } from '../mirror/user-mirrors.js'
import { type ServeRequest, serve } from '../server/serve.js'
import { sampleRoot } from '../sources/sample.js'
import { refuse } from './command.js'
import { isOn } from './config.js'
import { printNote } from './terminal/print.js'

type Warn = (text: string) => void

export interface Served {
  readonly mirror: string
  /** Where its candles come from, and where missing ones are fetched from. */
  readonly baseUrl: string | undefined
  readonly upstream: string | undefined
}

/** What is served: a folder that is named, else the mirror of the source; without any, and without `upstream`, the sample. */
export function findServed({ upstream, mirror: folder, baseUrl }: ServeRequest, warn: Warn): Served {
  const sample = { mirror: resolve(fileURLToPath(sampleRoot())), baseUrl: SAMPLE, upstream: undefined }
  if (baseUrl === SAMPLE) {
    if (!upstream) return sample
    throw refuse('--upstream needs a service; the sample has none behind it.')
  }
  const opened = openMirror({ baseUrl, mirror: folder }, warn)
  const { root, source, exists } = opened
  if (upstream) return { mirror: root, baseUrl: toSourceName(baseUrl), upstream: toSourceName(baseUrl) }
  if (exists || folder !== undefined) return { mirror: root, baseUrl: source, upstream: undefined }
  if (describeOtherMirrors(root).length === 0) return sample
  throw noMirror(opened)
}

/** `ended` resolves after `signal` aborts, once requests under way were answered. */
export async function startServing(
  { mirror, upstream }: Served,
  { signal, ...options }: ServeRequest & { readonly signal: AbortSignal },
  { warn, isVerbose }: { readonly warn: Warn; readonly isVerbose: boolean },
) {
  const logError = (text: string) => printNote(`klines: ${text}`)
  // What comes after the start is part of the log, like errors.
  let report = warn
  const onEvent: ServeRequest['onEvent'] = event => event.type === 'warning' && report(event.message)
  const { url, otherUrls, close } = await serve(
    { ...options, mirror, upstream: upstream !== undefined, onEvent },
    {
      onError: ({ message, stack = message }) => logError(isOn('KLINES_DEBUG') ? stack : message),
      log: isVerbose ? printNote : undefined,
    },
  )
  report = logError
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort')
  return { url, otherUrls, ended: stopped.then(close) }
}
