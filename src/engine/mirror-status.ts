import { type SeriesStatus, seriesStatuses } from '../mirror/status.js'
import { nothingCached } from './errors.js'
import { openMirror, type SourceOptions } from './run.js'

/** What a mirror has. */
export interface MirrorStatus {
  /** Folder of the mirror. */
  readonly mirror: string
  /** Base address that the candles come from; undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  /** Number of windows. */
  readonly windows: number
  /** Size of their files, bytes. */
  readonly cachedBytes: number
  readonly series: readonly SeriesStatus[]
}

/**
 * What a mirror has, by the sizes of its files; two windows of each series are read. Throws `window_missing` when there is no mirror,
 * and `mirror_mismatch` when it has another base address.
 *
 * @example
 * const { series, cachedBytes } = await mirrorStatus({ mirror: 'candles' })
 */
export async function mirrorStatus(
  options: Pick<SourceOptions, 'mirror' | 'baseUrl' | 'signal' | 'onEvent'> = {},
): Promise<MirrorStatus> {
  const mirror = openMirror(options, message => options.onEvent?.({ type: 'warning', message }))
  if (!mirror.exists && mirror.source === undefined)
    throw nothingCached(`There is no mirror at ${mirror.root}.`, mirror)
  const series = await seriesStatuses(mirror, options.signal)
  const windows = series.reduce((sum, one) => sum + one.windows, 0)
  const cachedBytes = series.reduce((sum, one) => sum + one.cachedBytes, 0)
  return { mirror: mirror.root, baseUrl: mirror.source, windows, cachedBytes, series }
}
