import { openMirror, openServiceSource, sourceName } from '../../download/open-source.js'
import { SAMPLE } from '../../http/base-url.js'
import { cleanText } from '../../http/error-body.js'
import { KlinesError } from '../../klines/errors.js'
import type { LoggedRequest } from '../../server/request-log.js'
import { SAMPLE_ROOT } from '../../server/sample.js'
import { type RunningServer, startServer } from '../../server/server.js'
import { UPSTREAM_POLICY } from '../../server/tree/upstream.js'
import type { RunContext } from '../base-command.js'
import type { ServeObject } from '../reports/schema.js'

/** What `serve` is told. */
export interface ServeFlags {
  host: string
  port: number
  upstream: boolean
  strict: boolean
  open: boolean
  quiet: boolean
  verbose: boolean
  mirror?: string | undefined
  'base-url'?: string | undefined
}

/** A server that a command started, and what there is to say of it. */
export interface Serving {
  readonly json: ServeObject
  readonly text: () => string
  /** Resolves when the server has ended, after the user said so and requests under way were answered. */
  readonly ended: Promise<void>
}

/** The mirror to serve, and what it is a mirror of. */
type Served = Pick<ServeObject, 'mirror' | 'baseUrl' | 'sample' | 'upstream'>

/** Starts `klines serve`. With no mirror yet, and nothing to fetch one from, it serves the sample. */
export async function startServing(flags: ServeFlags, context: RunContext): Promise<Serving> {
  const served = servedBy(flags)
  const options = { baseUrl: flags['base-url'], mirror: flags.mirror, warn: context.warn }
  const server = await startServer({
    ...flags,
    root: served.mirror,
    upstream: served.upstream === null ? undefined : () => openServiceSource(options, { policy: UPSTREAM_POLICY }),
    onError: ({ message, stack }) => process.stderr.write(`klines: ${flags.verbose ? stack : message}\n`),
    log: flags.verbose ? logRequest : undefined,
  })
  if (flags.open) await openBrowser(server.url, context)
  const json = { url: server.url, ...served, strict: flags.strict === true }
  return { json, text: () => (flags.quiet ? json.url : describe(json)), ended: endWith(context.signal, server) }
}

function servedBy({ upstream, mirror, 'base-url': baseUrl }: ServeFlags): Served {
  if (baseUrl === SAMPLE && upstream) {
    throw new KlinesError('bad_option', '--upstream needs a service; the sample has none behind it.')
  }
  const sample = { mirror: SAMPLE_ROOT, baseUrl: SAMPLE, sample: true, upstream: null }
  if (baseUrl === SAMPLE) return sample
  const held = openMirror({ baseUrl, mirror })
  if (baseUrl !== undefined) held.checkBase(sourceName({ baseUrl }))
  if (upstream) {
    const name = sourceName({ baseUrl })
    return { mirror: held.root, baseUrl: name, sample: false, upstream: name }
  }
  if (!held.exists) return sample
  const name = held.readMeta()?.baseUrl ?? null
  return { mirror: held.root, baseUrl: name, sample: name === SAMPLE, upstream: null }
}

function describe({ url, mirror, baseUrl, sample, upstream, strict }: ServeObject): string {
  const lines = [url]
  if (sample) lines.push('Serving the sample: these are MADE candles, not of any exchange.')
  else lines.push(`Serving ${mirror}${baseUrl === null ? '' : `, a mirror of ${baseUrl}`}.`)
  if (mirror === SAMPLE_ROOT)
    lines.push('klines download makes a mirror of real ones; --upstream fetches them as asked.')
  if (upstream !== null) lines.push('What is missing or not final is fetched from there when it is asked for.')
  if (strict) lines.push('The greeting API takes only what the public instance takes.')
  lines.push(`What there is, and how to ask: ${url}/ in a browser. Ctrl-C ends the server.`)
  return lines.join('\n')
}

/** Ends the server when the signal says so. */
function endWith(signal: AbortSignal, server: RunningServer): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => server.close().then(resolve, reject)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** One line a request; what came from outside is made fit for a terminal. */
function logRequest({ method, url, status, bytes, tookMs }: LoggedRequest): void {
  const outcome = status === undefined ? 'left' : `${status} ${bytes} B`
  process.stderr.write(`${method} ${cleanText(url, 200)} ${outcome} ${tookMs.toFixed(1)} ms\n`)
}

async function openBrowser(url: string, { warn }: RunContext): Promise<void> {
  const { default: open } = await import('open')
  const complain = () => warn(`No browser could be opened; open ${url}/ yourself.`)
  await open(`${url}/`).then(browser => browser.on('error', complain), complain)
}
