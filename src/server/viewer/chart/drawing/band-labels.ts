/** The text of a band and its width; `from` and `to` are the visible edges of the band. Pixels. */
export interface BandLabel {
  readonly text: string
  readonly width: number
  readonly from: number
  readonly to: number
}

/** A thinner band, far out of a long history, has no text, and labels are at least so far apart. CSS pixels. */
const MIN_BAND = 4
const DISTANCE = 6

/**
 * Places labels in one line of a pane, each over the middle of its band as far as the pane reaches. Wider bands come first; a label
 * without room is left out. `ratio`: pixels of a CSS pixel.
 */
export function placeLabels<T extends BandLabel>(
  labels: readonly T[],
  pane: number,
  ratio: number,
): (T & { readonly left: number })[] {
  const placed: (T & { readonly left: number })[] = []
  const isThin = ({ from, to }: T) => to - from < MIN_BAND * ratio
  for (const label of [...labels].sort((a, b) => b.to - b.from - (a.to - a.from))) {
    if (isThin(label)) break
    const left = Math.max(0, Math.min((label.from + label.to - label.width) / 2, pane - label.width))
    const isFree = placed.every(
      other =>
        left >= other.left + other.width + DISTANCE * ratio || left + label.width + DISTANCE * ratio <= other.left,
    )
    if (isFree) placed.push({ ...label, left })
  }
  return placed
}
