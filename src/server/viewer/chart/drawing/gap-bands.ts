import type { IChartApi, IPanePrimitive, IPrimitivePaneView, Logical } from '/viewer/lightweight-charts.js'
import type { Band } from '../data/timeline.js'
import type { Palette } from './palette.js'

/** Bars at both ends of a band, and thinner than that it would not be seen, in CSS pixels. */
const MIN_WIDTH = 1.5
/** Distance of the stripes of a missing window, CSS pixels. */
const STRIPES = 8

type Renderer = NonNullable<ReturnType<IPrimitivePaneView['renderer']>>
type Target = Parameters<Renderer['draw']>[0]

/** Draws time without candles as bands of the full height: plain where the data has none, striped for a missing window. */
export class GapBands implements IPanePrimitive {
  bands: readonly Band[] = []

  constructor(
    private readonly chart: IChartApi,
    private palette: Palette,
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
    if (!visible) return
    const { barSpacing } = scale.options()
    target.useBitmapCoordinateSpace(({ context, bitmapSize: { height }, horizontalPixelRatio: ratio }) => {
      for (const { from, to, isMissing } of this.bands) {
        if (to < visible.from - 1 || from > visible.to + 1) continue
        const [start, end] = [from, to].map(index => scale.logicalToCoordinate(index as Logical) ?? 0)
        const width = Math.max(MIN_WIDTH, end - start + barSpacing)
        const left = Math.round((start - barSpacing / 2) * ratio)
        const right = Math.round((start - barSpacing / 2 + width) * ratio)
        context.fillStyle = isMissing ? this.palette.missingWindow : this.palette.gap
        context.fillRect(left, 0, right - left, height)
        if (isMissing) this.drawStripes(context, left, right, height, STRIPES * ratio)
      }
    })
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
