import { systemClock } from '../http/system-clock.js'
import { type CandleStatus, seriesStatuses } from '../mirror/status.js'
import { toWarn } from './events.js'
import { MirrorSource } from './sources/mirror-source.js'
import { openMirror } from './sources/open-source.js'
import type { SourceOptions } from './sources/source-options.js'

/** What a mirror has. */
export interface MirrorStatus {
  /** Folder of the mirror. */
  readonly mirror: string
  /** Base address that the candles come from; undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  /** Number of cached windows. */
  readonly windows: number
  /** Size of their files, bytes. */
  readonly cachedBytes: number
  /** Each series with a cached window. */
  readonly series: readonly CandleStatus[]
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
  const mirror = openMirror(options)
  const source = new MirrorSource(mirror, { baseUrl: options.baseUrl, now: systemClock.now(), warn: toWarn(options) })
  source.contents.prepare()
  const series = await seriesStatuses(mirror, options.signal)
  const [windows, cachedBytes] = [
    series.reduce((sum, { windows }) => sum + windows, 0),
    series.reduce((sum, { cachedBytes }) => sum + cachedBytes, 0),
  ]
  return { mirror: mirror.root, baseUrl: source.info.baseUrl, windows, cachedBytes, series }
}
