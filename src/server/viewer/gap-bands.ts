import type { IChartApi, IPanePrimitive, IPrimitivePaneView, Logical } from 'lightweight-charts'
import { color } from './elements.js'
import type { Timeline } from './timeline.js'

/** All in CSS pixels. A thinner band would not be seen. */
const MIN_WIDTH = 1.5
const MIN_LABELLED = 4
const LABEL_SIZE = 12
const LABEL_PADDING = 4
const LABEL_TOP = 5
const DISTANCE = 6

type Renderer = NonNullable<ReturnType<IPrimitivePaneView['renderer']>>
type Target = Parameters<Renderer['draw']>[0]

/** Time without candles as bands that say how long they are: amber where the data has none, grey for windows that the mirror lacks. */
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
      context.textAlign = 'center'
      context.textBaseline = 'middle'
      const [top, size] = [LABEL_TOP * ratio, (LABEL_SIZE + 2 * LABEL_PADDING) * ratio]
      let free = 0
      for (const band of timeline.bands) {
        if (band.to < visible.from - 1 || band.from > visible.to + 1) continue
        const [start, end] = [band.from, band.to].map(index => scale.logicalToCoordinate(index as Logical) ?? 0)
        const left = start - barSpacing / 2
        const width = Math.max(MIN_WIDTH, end - start + barSpacing)
        const [from, to] = [left, left + width].map(x => Math.min(pane, Math.max(0, Math.round(x * ratio))))
        context.fillStyle = color(band.isMissing ? 'missing-window' : 'gap')
        context.fillRect(from, 0, to - from, height)
        const text = timeline.bandLabel(band)
        const textWidth = context.measureText(text).width + 2 * LABEL_PADDING * ratio
        // Over the middle of the band as far as the pane reaches; without room there is no label.
        const at = Math.max(0, Math.min((from + to - textWidth) / 2, pane - textWidth))
        if (to - from < MIN_LABELLED * ratio || at < free) continue
        free = at + textWidth + DISTANCE * ratio
        context.fillRect(at, top, textWidth, size)
        context.fillStyle = color(band.isMissing ? 'ink' : 'gap-ink')
        context.fillText(text, at + textWidth / 2, top + size / 2)
      }
      context.restore()
    })
  }
}
