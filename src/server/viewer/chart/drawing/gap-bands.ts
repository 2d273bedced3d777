import type { IChartApi, IPanePrimitive, IPrimitivePaneView, Logical } from 'lightweight-charts'
import type { Timeline } from '../data/timeline.js'
import { type BandLabel, placeLabels } from './band-labels.js'
import type { Palette } from './palette.js'

/** Bars at both ends of a band, and thinner than that it would not be seen, in CSS pixels. */
const MIN_WIDTH = 1.5
/** Distance of the stripes of a missing window, CSS pixels. */
const STRIPES = 8
/** Size, padding and distance from the upper edge of a label, CSS pixels: above the candles. */
const LABEL_SIZE = 12
const LABEL_PADDING = 4
const LABEL_TOP = 5

type Renderer = NonNullable<ReturnType<IPrimitivePaneView['renderer']>>
type Target = Parameters<Renderer['draw']>[0]

/** A label with the kind of its band. */
interface KindLabel extends BandLabel {
  readonly isMissing: boolean
}

/** Draws time without candles as bands of the full height that say how long they are: plain where the data has none, striped for a missing window. */
export class GapBands implements IPanePrimitive {
  timeline: Timeline | undefined

  constructor(
    private readonly chart: IChartApi,
    public palette: Palette,
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
      const labels: KindLabel[] = []
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
        const text = timeline.bandLabel(band)
        const textWidth = context.measureText(text).width + 2 * LABEL_PADDING * ratio
        labels.push({ text, width: textWidth, from: Math.max(0, left), to: Math.min(pane, right), isMissing })
      }
      for (const label of placeLabels(labels, pane, ratio)) this.drawLabel(context, label, ratio)
      context.restore()
    })
  }

  private drawLabel(
    context: CanvasRenderingContext2D,
    { text, left, width, isMissing }: KindLabel & { readonly left: number },
    ratio: number,
  ): void {
    const { missingWindow, ink, gap, gapInk } = this.palette
    const [top, height] = [LABEL_TOP * ratio, (LABEL_SIZE + 2 * LABEL_PADDING) * ratio]
    context.fillStyle = isMissing ? missingWindow : gap
    context.fillRect(left, top, width, height)
    context.fillStyle = isMissing ? ink : gapInk
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.fillText(text, left + width / 2, top + height / 2)
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
