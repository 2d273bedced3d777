import type { IChartApi, IPanePrimitive, IPrimitivePaneView, Logical } from 'lightweight-charts'
import { color } from './elements.js'
import type { Timeline } from './timeline.js'

/** Bars at both ends of a band, and thinner than that it would not be seen, in CSS pixels. */
const MIN_WIDTH = 1.5
/** Distance of the stripes of a missing window, CSS pixels. */
const STRIPES = 8
/** Size, padding and distance from the upper edge of a label, CSS pixels: above the candles. */
const LABEL_SIZE = 12
const LABEL_PADDING = 4
const LABEL_TOP = 5
/** A thinner band, far out of a long history, has no label, and labels are at least so far apart. CSS pixels. */
const MIN_BAND = 4
const DISTANCE = 6

type Renderer = NonNullable<ReturnType<IPrimitivePaneView['renderer']>>
type Target = Parameters<Renderer['draw']>[0]

/** The width of the label of a band; `from` and `to` are the visible edges of the band. Pixels. */
export interface BandLabel {
  readonly width: number
  readonly from: number
  readonly to: number
}

/**
 * Places labels in one line of a pane, each over the middle of its band as far as the pane reaches. Wider bands come first; a label
 * without room is left out. `ratio`: pixels of a CSS pixel.
 */
export function placeLabels<T extends BandLabel>(labels: readonly T[], pane: number, ratio: number) {
  const placed: (T & { readonly left: number })[] = []
  for (const label of labels.toSorted((a, b) => b.to - b.from - (a.to - a.from))) {
    if (label.to - label.from < MIN_BAND * ratio) break
    const left = Math.max(0, Math.min((label.from + label.to - label.width) / 2, pane - label.width))
    const distance = DISTANCE * ratio
    const isFree = placed.every(
      other => left >= other.left + other.width + distance || left + label.width + distance <= other.left,
    )
    if (isFree) placed.push({ ...label, left })
  }
  return placed
}

/** Draws time without candles as bands of the full height that say how long they are: plain where the data has none, striped for a missing window. */
export class GapBands implements IPanePrimitive {
  timeline: Timeline | undefined

  constructor(
    private readonly chart: IChartApi,
    private readonly font: string,
  ) {}

  paneViews(): readonly IPrimitivePaneView[] {
    const renderer: Renderer = { draw: () => {}, drawBackground: target => this.draw(target) }
    return [{ zOrder: () => 'bottom', renderer: () => renderer }]
  }

  private draw(target: Target): void {
    const scale = this.chart.timeScale()
    const visible = scale.getVisibleLogicalRange()
    const { timeline } = this
    if (!visible || !timeline) return
    const { barSpacing } = scale.options()
    target.useBitmapCoordinateSpace(({ context, bitmapSize: { width: pane, height }, horizontalPixelRatio: ratio }) => {
      context.save()
      context.font = `${LABEL_SIZE * ratio}px ${this.font}`
      const bands = timeline.bands.filter(({ from, to }) => to >= visible.from - 1 && from <= visible.to + 1)
      const labels = bands.map(band => {
        const { isMissing } = band
        const [start, end] = [band.from, band.to].map(index => scale.logicalToCoordinate(index as Logical) ?? 0)
        const left = start - barSpacing / 2
        const width = Math.max(MIN_WIDTH, end - start + barSpacing)
        const [from, to] = [left, left + width].map(x => Math.round(x * ratio))
        context.fillStyle = color(isMissing ? 'missing-window' : 'gap')
        context.fillRect(from, 0, to - from, height)
        if (isMissing) drawStripes(context, from, to, height, STRIPES * ratio)
        const text = timeline.bandLabel(band)
        const textWidth = context.measureText(text).width + 2 * LABEL_PADDING * ratio
        return { text, width: textWidth, from: Math.max(0, from), to: Math.min(pane, to), isMissing }
      })
      const [top, size] = [LABEL_TOP * ratio, (LABEL_SIZE + 2 * LABEL_PADDING) * ratio]
      context.textAlign = 'center'
      context.textBaseline = 'middle'
      for (const { text, left, width, isMissing } of placeLabels(labels, pane, ratio)) {
        context.fillStyle = color(isMissing ? 'missing-window' : 'gap')
        context.fillRect(left, top, width, size)
        context.fillStyle = color(isMissing ? 'ink' : 'gap-ink')
        context.fillText(text, left + width / 2, top + size / 2)
      }
      context.restore()
    })
  }
}

function drawStripes(
  context: CanvasRenderingContext2D,
  left: number,
  right: number,
  height: number,
  step: number,
): void {
  context.save()
  context.beginPath()
  context.rect(left, 0, right - left, height)
  context.clip()
  context.beginPath()
  for (let x = Math.floor((left - height) / step) * step; x < right; x += step) {
    context.moveTo(x, height)
    context.lineTo(x + height, 0)
  }
  context.strokeStyle = color('missing-stripe')
  context.lineWidth = 1
  context.stroke()
  context.restore()
}
