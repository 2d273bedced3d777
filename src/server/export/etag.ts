import { createHash } from 'node:crypto'
import type { SeriesPlan } from '../../download/plan.js'
import type { PlannedSeries } from '../../export/export-series.js'
import type { RequestedRange } from '../../klines/time-range.js'
import { VERSION } from '../../version.js'
import { MEDIA } from './media.js'
import type { ExportParameters } from './parameters.js'
import type { ServedSource } from './served-source.js'

/** What the bytes of an export depend on. */
export interface ExportFacts {
  readonly parameters: ExportParameters
  readonly range: RequestedRange
  readonly run: PlannedSeries
  /** The versions of the windows of `run`, in order. */
  readonly versions: readonly string[]
}

/**
 * The strong ETag of an export: the same one for the same bytes, and another one when a window has another version. Reads at
 * most two windows.
 */
export async function exportTag(source: ServedSource, facts: ExportFacts): Promise<string> {
  const { parameters, range, run, versions } = facts
  const { series, extension, rowFormat, resampling, excerpt, format } = parameters
  const { windows, listedFrom } = run.plan
  const dependsOnRange = MEDIA[format].saysRange || run.resampleTo !== undefined
  const rows = dependsOnRange
    ? [String(range.fromTime), String(range.toTime), range.text]
    : await findEnds(source, run.plan)
  const names = windows.map(({ startDate }) => startDate)
  const target = [resampling, run.resampleTo?.anchor, listedFrom]
  const state = [VERSION, source.info.baseUrl, series, extension, rowFormat, excerpt, target, rows, names, versions]
  return `"${createHash('sha1').update(JSON.stringify(state)).digest('base64url')}"`
}

/** Which rows of the first and of the last window lie in the range: a range that moves with the present often has the same ones. */
async function findEnds(source: ServedSource, { windows, range }: SeriesPlan): Promise<(number | undefined)[]> {
  const ends: (number | undefined)[] = []
  for (const window of new Set([...windows.slice(0, 1), ...windows.slice(-1)])) {
    const result = await source.cachedWindow(window)
    // The check of all windows reports a failure.
    if (result.status === 'failed') continue
    const rows = result.batch.slice(range.fromTime, range.toTime)
    ends.push(rows.length, rows.length === 0 ? undefined : rows.openTime(0))
  }
  return ends
}
