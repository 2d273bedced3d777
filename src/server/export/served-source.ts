import pMap from 'p-map'
import { incomplete, noMinutes } from '../../download/errors.js'
import { combine, selectedIntervals, selectSymbols } from '../../download/selection.js'
import { MirrorSource } from '../../download/sources/mirror-source.js'
import { findThreeDayAnchor } from '../../download/sources/service-contents.js'
import type {
  SourceContents,
  Warn,
  WindowFailure,
  WindowResult,
  WindowSource,
} from '../../download/sources/window-source.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { findMissingStartDates, parseStartDates } from '../../klines/lists.js'
import { startDatesPath, windowPath } from '../../klines/paths.js'
import type { Series, WindowRef } from '../../klines/series.js'
import { unknownSymbols } from '../../klines/symbols.js'
import { trimPeriod } from '../../klines/text.js'
import type { Mirror } from '../../mirror/mirror.js'
import { HttpError } from '../http/error.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import { toExportError } from './errors.js'

/** Windows that are fetched at the same time; the service's own limits hold too. */
const FETCHES_AT_ONCE = 16
const ADVICE = 'The mirror keeps what was downloaded; try again later.'

/** The windows of the served mirror, and the service behind it if there is one. */
export interface ServedSource extends WindowSource {
  /** Fetches the windows that are missing, corrupt or not final. Returns why some may not be current; throws `HttpError`. */
  refresh(windows: readonly WindowRef[], signal: AbortSignal): Promise<HttpError | undefined>
}

/**
 * `mirror`: that of the tree, for this export alone. Throws `unknown_symbol`, and `HttpError` for 1m, 3m or 5m of a server without
 * them, and when only the service knows the symbol and does not answer.
 */
export async function openServedSource(
  tree: Tree,
  mirror: Mirror,
  { symbol, interval }: Series,
  warn: Warn,
): Promise<ServedSource> {
  const { upstream } = tree
  if (tree.lacksInterval(interval)) throw new HttpError(404, noMinutes(interval, 'This server').message)
  if (!mirror.contents.hasSymbol(symbol) && !(await upstream?.hasSymbol(symbol))) {
    throw unknownSymbols([symbol], listSymbols(mirror), 'this server')
  }
  // Which windows of an exchange have started, only its own clock says.
  const asksNow = upstream && mirror.rules.rendersAnswers
  const now = asksNow ? await upstream.currentTime().catch(() => tree.now()) : tree.now()
  const cached = new MirrorSource(mirror, { now, warn })
  const files = new FreshFiles(tree, mirror)
  return {
    // A new mirror has no source before its first file.
    info: {
      ...cached.info,
      get baseUrl() {
        return cached.info.baseUrl ?? mirror.baseUrl
      },
    },
    contents: upstream ? upstreamContents(files, mirror, now) : cached.contents,
    costs: cached.costs,
    window: window => cached.window(window),
    cachedWindow: async window => {
      // What the mirror could not store counts instead of its file.
      const file = tree.memory?.get(windowPath(window))
      return file ? toResult(window, file.bytes) : cached.cachedWindow(window)
    },
    statusWithoutReading: () => 'cached',
    hasAllCandles: window => cached.hasAllCandles(window),
    close: async () => {},
    refresh: async (windows, signal) => {
      if (upstream) await files.refresh(windows, signal)
      return files.problem
    },
  }
}

/** Files of the tree, as the service behind it has them now. */
class FreshFiles {
  /** Why the service did not send one: it is not asked again for this export. */
  problem: HttpError | undefined

  constructor(
    private readonly tree: Tree,
    private readonly mirror: Mirror,
  ) {}

  async get(path: string): Promise<Buffer> {
    const { body, warning } = await this.tree.file(path)
    this.problem ??= warning
    return body.bytes
  }

  /** Fetches the windows that are missing, corrupt or not final. */
  async refresh(windows: readonly WindowRef[], signal: AbortSignal): Promise<void> {
    const results = await pMap(windows, window => this.fetch(window), { concurrency: FETCHES_AT_ONCE, signal })
    const failures = results.flatMap(failure => failure ?? [])
    if (failures.length === 0) return
    const error = incomplete(failures, windows.length, { advice: ADVICE, offline: false }, true)
    throw toExportError(error, { status: this.problem?.statusCode ?? 409 })
  }

  private async fetch(window: WindowRef): Promise<WindowFailure | undefined> {
    const cached = this.mirror.windows.read(window)
    if (cached.state === 'cached' && (cached.final || this.problem)) return undefined
    try {
      if (this.problem) throw this.problem
      await this.get(windowPath(window))
      return undefined
    } catch (error) {
      if (!(error instanceof HttpError) || error.statusCode === 503) throw error
      if (error.statusCode !== 404) this.problem = error
      return { window, status: 'failed', reason: trimPeriod(error.message) }
    }
  }
}

/** What the service behind a server has. The symbol is checked before: it may have what the mirror lacks. */
function upstreamContents(files: FreshFiles, mirror: Mirror, now: number): SourceContents {
  const contents: SourceContents = {
    currentTime: async () => now,
    series: async selection => combine(selectSymbols(selection, []), selectedIntervals(selection)),
    hasSeries: () => true,
    startDates: async interval => {
      const list = parseStartDates(await files.get(startDatesPath(interval)), interval)
      return [...list, ...findMissingStartDates(list, interval, { known: [], now })].sort()
    },
    cachedStartDates: series => mirror.contents.startDates(series),
    neededUntil: () => now,
    threeDayAnchor: symbol =>
      findThreeDayAnchor(contents, { mirror, rules: mirror.rules }, symbol, async window =>
        toResult(window, await files.get(windowPath(window))),
      ),
  }
  return contents
}

function toResult(window: WindowRef, bytes: Buffer): WindowResult {
  return { window, status: 'cached', batch: decodeWindow(bytes, window), size: bytes.length }
}
