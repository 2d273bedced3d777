import type { Plan } from '../download/plan.js'
import type { RequestCost } from '../download/request-cost.js'
import { checkRange } from '../download/request-range.js'
import { parseSelection } from '../download/selection.js'
import { openSource } from '../download/sources/open-source.js'
import type { WindowSource } from '../download/sources/window-source.js'
import { type MirrorUpdateRequest, planUpdate } from '../download/update.js'
import type { Series } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { parseThreads } from '../threads/thread-count.js'
import { checkExcerpt } from './excerpt.js'
import type { ExportRequest } from './export.js'
import { planRequest, type RangedRequest } from './export-series.js'
import { checkOutputs, parseTemplate, planOutputs } from './output-spec.js'
import { parseRowFormat } from './row-format.js'

/**
 * The windows of one series in the range: `stale` ones would be revalidated, `missing` ones downloaded, and `unrecorded` ones, which
 * are cached and not as the mirror's record has them, downloaded once more.
 */
export interface SeriesDryRun extends Series {
  readonly windows: {
    readonly total: number
    readonly cached: number
    readonly stale: number
    readonly unrecorded: number
    readonly missing: number
  }
}

/** What a run would do. */
export interface DryRunReport extends RequestCost {
  readonly baseUrl: string | undefined
  readonly mirror: string
  /** Whether the run makes no request, so that it would fail for a missing window. */
  readonly offline: boolean
  readonly range: TimeRange
  readonly series: SeriesDryRun[]
  /** Paths that would be written, `-` for stdout. */
  readonly files: string[]
  /** Paths of the parts of a lake that `prune` would remove. */
  readonly removed: string[]
}

/**
 * What `downloadKlines`, or with an `output` `exportKlines`, would download and write. Requests the lists, which say what
 * exists, and nothing else; stores and writes nothing. Throws what those would throw about the request and its outputs.
 */
export async function dryRun(
  request: Omit<ExportRequest, 'output'> & RangedRequest & { output?: string | undefined },
): Promise<DryRunReport> {
  const selection = parseSelection(request)
  checkRange(request)
  checkExcerpt(request)
  parseThreads(request)
  const { output } = request
  const format = output === undefined ? undefined : parseTemplate(output, request.format)
  if (format !== undefined) parseRowFormat(request, format.format)
  const source = await openSource(request, { readOnly: true })
  try {
    let files: string[] = []
    const { plan } = await planRequest(request, source, selection, async series => {
      if (output === undefined || format === undefined) return
      const outputs = planOutputs(output, format, series)
      await checkOutputs(outputs, request)
      files = outputs.map(({ path }) => path)
    })
    return describePlan(source, plan, files)
  } finally {
    await source.close()
  }
}

/** What `updateMirror` would download. */
export async function dryRunUpdate(request: MirrorUpdateRequest): Promise<DryRunReport> {
  const source = await openSource(request, { readOnly: true })
  try {
    return describePlan(source, await planUpdate(source, request), [])
  } finally {
    await source.close()
  }
}

/** What a run would do with a plan and these files. */
export function describePlan(source: WindowSource, { range, series }: Plan, files: string[]): DryRunReport {
  let [requests, limitMs] = [0, 0]
  const counted = series.map(({ series, windows }) => {
    const counts = { total: windows.length, cached: 0, stale: 0, unrecorded: 0, missing: 0 }
    for (const window of windows) counts[source.costs.cacheState(window)]++
    const cost = source.costs.windowCost(series)
    const requested = counts.total - counts.cached
    requests += requested * cost.requests
    limitMs += requested * cost.limitMs
    return { ...series, windows: counts }
  })
  const { baseUrl, mirrorRoot: mirror, offline } = source.info
  return { baseUrl, mirror, offline, range, series: counted, requests, limitMs, files, removed: [] }
}
