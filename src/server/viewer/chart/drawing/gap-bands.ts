import type { IChartApi, IPanePrimitive, IPrimitivePaneView, Logical } from 'lightweight-charts'
import type { Timeline } from '../data/timeline.js'
import type { Palette } from './palette.js'

/** Bars at both ends of a band, and thinner than that it would not be seen, in CSS pixels. */
const MIN_WIDTH = 1.5
/** Distance of the stripes of a missing window, CSS pixels. */
const STRIPES = 8
/** Height of a label and the space around it, CSS pixels. */
const LABEL_SIZE = 12
const LABEL_PADDING = 6

type Renderer = NonNullable<ReturnType<IPrimitivePaneView['renderer']>>
type Target = Parameters<Renderer['draw']>[0]

/**
 * Draws time without candles as bands of the full height: plain where the data has none, striped for a missing window. One that
 * is shortened says how long it is.
 */
export class GapBands implements IPanePrimitive {
  timeline: Timeline | undefined

  constructor(
    private readonly chart: IChartApi,
    private palette: Palette,
    private readonly font: string,
  ) {}

  setPalette(palette: Palette): void {
    this.palette = palette
  }

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
      for (const band of timeline.bands) {
        const { from, to, isMissing } = band
        if (to < visible.from - 1 || from > visible.to + 1) continue
        const [start, end] = [from, to].map(index => scale.logicalToCoordinate(index as Logical) ?? 0)
        const width = Math.max(MIN_WIDTH, end - start + barSpacing)
        const left = Math.round((start - barSpacing / 2) * ratio)
        const right = Math.round((start - barSpacing / 2 + width) * ratio)
        context.fillStyle = isMissing ? this.palette.missingWindow : this.palette.gap
        context.fillRect(left, 0, right - left, height)
        if (isMissing) this.drawStripes(context, left, right, height, STRIPES * ratio)
        const label = timeline.bandLabel(band)
        if (label) this.drawLabel(context, label, Math.max(0, left), Math.min(pane, right), height / 2, ratio)
      }
    })
  }

  /** Draws a text in the middle of what is visible of a band, if it fits. */
  private drawLabel(
    context: CanvasRenderingContext2D,
    label: string,
    left: number,
    right: number,
    y: number,
    ratio: number,
  ): void {
    context.save()
    context.font = `${LABEL_SIZE * ratio}px ${this.font}`
    const padding = LABEL_PADDING * ratio
    const width = context.measureText(label).width + 2 * padding
    const height = LABEL_SIZE * ratio + 2 * padding
    const x = (left + right) / 2
    if (width <= right - left) {
      context.fillStyle = this.palette.paper
      context.fillRect(x - width / 2, y - height / 2, width, height)
      context.fillStyle = this.palette.soft
      context.textAlign = 'center'
      context.textBaseline = 'middle'
      context.fillText(label, x, y)
    }
    context.restore()
  }

  private drawStripes(
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
    context.strokeStyle = this.palette.missingStripe
    context.lineWidth = 1
    context.stroke()
    context.restore()
  }
}
