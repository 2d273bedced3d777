import type { Series } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { parseRowFormat } from '../formats/row-format.js'
import { Kernel } from '../rows/wasm/kernel.js'
import type { UpdateRequest } from './download.js'
import { checkExcerpt, type ExportRequest } from './export.js'
import { checkOutputs, parseTemplate, planOutputs } from './output/output-spec.js'
import { planRequest, planUpdate } from './plan.js'
import { openRun, type Run, withRun } from './run.js'
import { isBeforeFirst, type Plan } from './series-plan.js'

/** The windows of one series in the range: `open` ones would be revalidated, `missing` ones downloaded; `cached` ones need no request. */
export interface SeriesDryRun extends Series {
  readonly windows: { readonly total: number; readonly cached: number; readonly open: number; readonly missing: number }
}

/** What a run would do. */
export interface DryRunReport {
  readonly baseUrl: string | undefined
  readonly mirror: string
  /** Whether the run makes no request, so that it would fail for a missing window. */
  readonly offline: boolean
  readonly range: TimeRange
  readonly series: SeriesDryRun[]
  /** Requests for windows, and how long they take by the limits of the service, ms; 0 without limits. */
  readonly requests: number
  readonly limitMs: number
  /** Paths that would be written, `-` for stdout. */
  readonly files: string[]
  /** Paths of the parts of a lake that `prune` would remove. */
  readonly removed: string[]
}

/**
 * What `downloadKlines`, or with an `output` `exportKlines`, would download and write. Requests the lists, which say what
 * exists, and nothing else; exports nothing. Throws what those would throw about the request and its outputs.
 */
export async function dryRun(
  request: Omit<ExportRequest, 'output'> & { output?: string | undefined },
  plan: (run: Run) => Promise<Plan> = run => planRequest(request, run),
): Promise<DryRunReport> {
  checkExcerpt(request)
  const { output } = request
  const format = output === undefined ? undefined : parseTemplate(output, request.format)
  if (format !== undefined) parseRowFormat(request, format.format)
  return withRun(openRun(request, { readOnly: true }), async run => {
    const planned = await plan(run)
    if (output === undefined || format === undefined) return describePlan(planned, run, [])
    const outputs = planOutputs(
      output,
      format,
      planned.series.map(({ label }) => label),
    )
    await checkOutputs(outputs, request)
    return describePlan(
      planned,
      run,
      outputs.map(({ path }) => path),
    )
  })
}

/** What `updateKlines` would download. */
export function dryRunUpdate(request: UpdateRequest): Promise<DryRunReport> {
  return withRun(openRun(request, { readOnly: true }), async run => describePlan(await planUpdate(run), run, []))
}

/** What a run would do with a plan and these files. */
export function describePlan({ range, series }: Plan, run: Run, files: string[]): DryRunReport {
  const { mirror, source, refresh } = run
  const kernel = new Kernel()
  let [requests, limitMs] = [0, 0]
  const counted = series.map(one => {
    const { series, windows } = one
    const cost = source?.cost(series.interval) ?? { requests: 0, limitMs: 0 }
    const counts = { total: windows.length, cached: 0, open: 0, missing: 0 }
    for (const window of windows) {
      const state = mirror.state(window, mirror.read(window, kernel))
      if (state === 'missing' && !isBeforeFirst(one, window)) counts.missing++
      else if (source && state !== 'missing' && (state === 'open' || refresh)) counts.open++
      else counts.cached++
    }
    const received = counts.missing + counts.open
    requests += received * cost.requests
    limitMs += received * cost.limitMs
    return { ...series, windows: counts }
  })
  const baseUrl = source?.name ?? mirror.source
  return {
    baseUrl,
    mirror: mirror.root,
    offline: source === undefined,
    range,
    series: counted,
    requests,
    limitMs,
    files,
    removed: [],
  }
}
