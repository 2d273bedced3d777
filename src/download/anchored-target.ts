import { hasListingGrid, type TargetInterval } from '../klines/resample/target-interval.js'
import type { Series } from '../klines/series.js'
import type { WindowSource } from './sources/window-source.js'

/** A target on the symbol's own 3d grid, when that is known. */
export async function withAnchor(
  source: WindowSource,
  { symbol }: Series,
  target: TargetInterval,
): Promise<TargetInterval> {
  return {
    ...target,
    anchor: target.anchor ?? (hasListingGrid(target) ? await source.contents.threeDayAnchor(symbol) : undefined),
  }
}
