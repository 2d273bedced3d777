import { warningsTo } from '../../download/events.js'
import { openMirror, openSource, warnOnce } from '../../download/sources/open-source.js'
import { SAMPLE, toSourceName } from '../../http/base-url.js'
import { cleanText } from '../../http/error-body.js'
import { SAMPLE_ROOT } from '../../http/transport/sample-files.js'
import { KlinesError } from '../../klines/errors.js'
import { describeOtherMirrors } from '../../mirror/user-mirrors.js'
import { type LoggedRequest, type RunningServer, startServer } from '../../server/server.js'
import { UPSTREAM_POLICY } from '../../server/tree/upstream.js'
import type { RunContext } from '../base-command.js'
import { isDebug } from '../error-report.js'
import type { FlagsOf } from '../flags/group.js'
import type { serveFlags } from '../flags/serve.js'
import { type LocationFlags, type NetworkFlags, toLimits } from '../flags/service.js'
import { toFlags } from '../option-flags.js'
import type { Report } from '../reports/report.js'
import type { ServeObject } from '../reports/schema.js'
import { printNote } from '../terminal/print.js'

interface ServeFlags extends FlagsOf<typeof serveFlags>, LocationFlags, NetworkFlags {
  quiet: boolean
  verbose: boolean
}

/** A server that a command started. */
interface StartedServer extends Report<ServeObject> {
  /** Resolves when the server has closed: after an interruption, once requests under way were answered. */
  readonly ended: Promise<void>
}

/** `serve`. Without any mirror of the user, and without `upstream` to fetch one from, it serves the sample. */
export async function runServe(flags: ServeFlags, context: RunContext): Promise<StartedServer> {
  const location = findLocation(flags, context.warn)
  let isStarted = false
  // What comes later is part of the log, like errors.
  const warn = warnOnce(text => (isStarted ? logError(text) : context.warn(text)))
  const options = { baseUrl: flags['base-url'], mirror: flags.mirror, ...toLimits(flags), onEvent: warningsTo(warn) }
  const server = await startServer({
    ...flags,
    root: location.mirror,
    baseUrl: location.baseUrl ?? undefined,
    streamText: flags['stream-text'],
    upstream:
      location.upstream === null ? undefined : memory => openSource(options, { policy: UPSTREAM_POLICY, memory }),
    onError: ({ message, stack = message }) => logError(isDebug() ? stack : message),
    warn: logError,
    log: flags.verbose ? logRequest : undefined,
  })
  isStarted = true
  const json = { url: server.url, ...location }
  const text = () => (flags.quiet ? json.url : describeServer(json))
  return { json, text, ended: closeOnAbort(context.signal, server) }
}

/** The mirror to serve, and where its candles come from. */
function findLocation(
  flags: ServeFlags,
  warn: RunContext['warn'],
): Pick<ServeObject, 'mirror' | 'baseUrl' | 'sample' | 'upstream'> {
  const { upstream, mirror: folder, 'base-url': baseUrl } = flags
  if (baseUrl === SAMPLE && upstream) {
    throw new KlinesError('bad_option', '--upstream needs a service; the sample has none behind it.')
  }
  const sample = { mirror: SAMPLE_ROOT, baseUrl: SAMPLE, sample: true, upstream: null }
  if (baseUrl === SAMPLE) return sample
  const mirror = openMirror({ baseUrl, mirror: folder })
  if (baseUrl !== undefined) mirror.upkeep.checkBase(toSourceName(baseUrl))
  if (upstream) {
    const name = toSourceName(baseUrl)
    return { mirror: mirror.root, baseUrl: name, sample: false, upstream: name }
  }
  if (!mirror.files.exists && folder !== undefined && mirror.upkeep.readMeta(warn) === undefined) {
    const suggestions = ['Download candles first, add --upstream, or leave --mirror out to serve the sample.']
    throw new KlinesError('window_missing', `There is no mirror at ${folder}.`, { suggestions })
  }
  if (!mirror.files.exists) {
    const others = describeOtherMirrors(mirror.root)
    if (others.length === 0) return sample
    const suggestions = [...others, 'Or serve the synthetic sample: klines serve --base-url sample']
    throw new KlinesError('window_missing', `There is no mirror at ${mirror.root}.`, { suggestions })
  }
  const name = mirror.upkeep.readMeta(warn)?.baseUrl ?? null
  return { mirror: mirror.root, baseUrl: name, sample: name === SAMPLE, upstream: null }
}

function closeOnAbort(signal: AbortSignal, server: RunningServer): Promise<void> {
  return new Promise((resolve, reject) => {
    const close = () => server.close().then(resolve, reject)
    if (signal.aborted) close()
    else signal.addEventListener('abort', close, { once: true })
  })
}

function logError(text: string): void {
  printNote(`klines: ${toFlags(text)}`)
}

/** One line for each request; the URL is untrusted text. */
function logRequest({ method, url, status, bytes, tookMs }: LoggedRequest): void {
  const outcome = status === undefined ? 'left' : `${status} ${bytes} B`
  printNote(`${method} ${cleanText(url, 200)} ${outcome} ${tookMs.toFixed(1)} ms`)
}

/** `serve`: the address, what is served there, and how to stop. */
function describeServer({ url, mirror, baseUrl, sample, upstream }: Omit<ServeObject, 'warnings'>) {
  const lines = [url]
  if (sample) lines.push('Serving synthetic sample data, not prices of any exchange.')
  else lines.push(`Serving ${mirror}${baseUrl === null ? '' : `, a mirror of ${baseUrl}`}.`)
  if (mirror === SAMPLE_ROOT)
    lines.push('klines download creates a mirror of real candles; --upstream downloads them on request.')
  if (upstream !== null) lines.push('Missing and open windows are downloaded from there on request.')
  lines.push(`Open ${url}/ in a browser for charts, downloads and the API. Press Ctrl-C to stop.`)
  return lines.join('\n')
}
