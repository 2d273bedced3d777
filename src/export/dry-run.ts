import { openSource } from '../download/open-source.js'
import { planSeries } from '../download/plan.js'
import { parseSelection } from '../download/selection.js'
import { systemClock } from '../http/system-clock.js'
import type { Series } from '../klines/series.js'
import { parseRange, type TimeRange } from '../klines/time-range.js'
import { checkTargets, type ExportRequest } from './export.js'
import { outputsOf, partsOf, rangeOfSources, sourcesOf } from './parts.js'

/** What a run would have to do for one series: windows in the range, of them held, held but not final, not held. */
export interface SeriesDryRun extends Series {
  readonly windows: {
    readonly total: number
    readonly cached: number
    readonly stale: number
    readonly missing: number
  }
}

/** What a run would do. */
export interface DryRunReport {
  readonly baseUrl: string | undefined
  readonly mirror: string
  /** Whether nothing would be asked for, so that an absent window is one the run would fail for. */
  readonly offline: boolean
  readonly range: TimeRange
  readonly series: SeriesDryRun[]
  /** Paths that would be written, `-` for stdout. */
  readonly files: string[]
}

/**
 * What `downloadKlines`, or with an `output` `exportKlines`, would ask for and write: every window that is not `held` is
 * asked for. Asks for the lists, which say what exists, and for nothing else; stores and writes nothing. Throws what those
 * would throw about the request and its outputs.
 */
export async function dryRun(
  request: Omit<ExportRequest, 'output'> & { output?: string | undefined },
): Promise<DryRunReport> {
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  const source = await openSource(request, { readOnly: true })
  try {
    const parts = await partsOf(request, source, selection)
    const { output } = request
    const targets = output === undefined ? [] : (await checkTargets({ ...request, output }, outputsOf(parts))).targets
    const plan = await planSeries(source, sourcesOf(parts), rangeOfSources(parts, range))
    const series = plan.series.map(({ series, windows }) => {
      const counts = { total: windows.length, cached: 0, stale: 0, missing: 0 }
      for (const window of windows) counts[source.state(window)]++
      return { ...series, windows: counts }
    })
    return {
      baseUrl: source.baseUrl,
      mirror: source.mirrorRoot,
      offline: source.offline,
      range,
      series,
      files: targets.map(({ path }) => path),
    }
  } finally {
    await source.close()
  }
}
