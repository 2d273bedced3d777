import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openMirror, openRun } from '../../engine/run.js'
import { KlinesError } from '../../klines/errors.js'
import { describeOtherMirrors } from '../../mirror/user-mirrors.js'
import { type LoggedRequest, type RunningServer, startServer } from '../../server/server.js'
import { UPSTREAM_POLICY } from '../../server/upstream.js'
import { SAMPLE, toSourceName } from '../../sources/base-url.js'
import { cleanText } from '../../sources/error-body.js'
import { SAMPLE_ROOT } from '../../sources/sample.js'
import type { RunContext } from '../base-command.js'
import { isDebug } from '../error-report.js'
import { type FlagsOf, pick } from '../flags/group.js'
import type { serveFlags } from '../flags/serve.js'
import { type LocationFlags, type NetworkFlags, toLimits } from '../flags/service.js'
import type { Report } from '../reports/report.js'
import type { ServeObject } from '../reports/schema.js'
import { printNote } from '../terminal/print.js'
import { warningsTo } from '../terminal/progress.js'

/** What is served without a mirror. */
const SAMPLE_FOLDER = resolve(fileURLToPath(SAMPLE_ROOT))

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
  const warn = (text: string) => (isStarted ? logError(text) : context.warn(text))
  const { mirror, baseUrl, upstream } = location
  const options = { baseUrl: upstream ?? undefined, mirror, ...toLimits(flags), onEvent: warningsTo(warn) }
  const server = await startServer({
    ...pick(flags, 'host', 'port'),
    root: mirror,
    source: baseUrl ?? undefined,
    allowHost: flags['allow-host'],
    streamText: flags['stream-text'],
    upstream: upstream === null ? undefined : () => openRun(options, { policy: UPSTREAM_POLICY }),
    onError: ({ message, stack = message }) => logError(isDebug() ? stack : message),
    warn,
    log: flags.verbose ? logRequest : undefined,
  })
  isStarted = true
  const json = { url: server.url, ...location }
  const text = () => (flags.quiet ? json.url : describeServer(json, server.otherUrls))
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
  const sample = { mirror: SAMPLE_FOLDER, baseUrl: SAMPLE, sample: true, upstream: null }
  if (baseUrl === SAMPLE) return sample
  const mirror = openMirror({ baseUrl, mirror: folder }, warn)
  if (upstream) {
    const name = toSourceName(baseUrl)
    return { mirror: mirror.root, baseUrl: name, sample: false, upstream: name }
  }
  if (!mirror.exists && folder !== undefined && mirror.source === undefined) {
    const suggestions = ['Download candles first, add --upstream, or leave --mirror out to serve the sample.']
    throw new KlinesError('window_missing', `There is no mirror at ${folder}.`, { suggestions })
  }
  if (!mirror.exists) {
    const others = describeOtherMirrors(mirror.root)
    if (others.length === 0) return sample
    const suggestions = [...others, 'Or serve the synthetic sample: klines serve --base-url sample']
    throw new KlinesError('window_missing', `There is no mirror at ${mirror.root}.`, { suggestions })
  }
  const name = mirror.source ?? null
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
  printNote(`klines: ${text}`)
}

/** One line for each request; the URL is untrusted text. */
function logRequest({ method, url, status, bytes, tookMs }: LoggedRequest): void {
  const outcome = status === undefined ? 'left' : `${status} ${bytes} B`
  printNote(`${method} ${cleanText(url, 200)} ${outcome} ${tookMs.toFixed(1)} ms`)
}

/** `serve`: the address, what is served there, and how to stop. */
function describeServer(
  { url, mirror, baseUrl, sample, upstream }: Omit<ServeObject, 'warnings'>,
  otherUrls: readonly string[],
) {
  const lines = [url]
  if (sample) lines.push('Serving synthetic sample data, not prices of any exchange.')
  else lines.push(`Serving ${mirror}${baseUrl === null ? '' : `, a mirror of ${baseUrl}`}.`)
  if (mirror === SAMPLE_FOLDER)
    lines.push('klines download creates a mirror of real candles; --upstream downloads them on request.')
  if (upstream !== null) lines.push('Missing and open windows are downloaded from there on request.')
  if (otherUrls.length > 0) lines.push(`Other machines reach it at ${otherUrls.join(', ')}.`)
  lines.push(`Open ${url}/ in a browser for charts, downloads and the API. Press Ctrl-C to stop.`)
  return lines.join('\n')
}
