import { CandleFitter } from '../../chart/candle-fitter.js'
import { drawSvg, SAMPLE_NOTE } from '../../chart/svg/draw-svg.js'
import { maxCandles } from '../../chart/svg/layout.js'
import { DEFAULT_PICTURE, type PictureOptions } from '../../chart/svg/picture-options.js'
import { SAMPLE } from '../../http/base-url.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { SeriesLabel } from '../../klines/series.js'
import type { Exporter, ExporterOptions } from './exporter.js'

/** Draws the candles of one series as an SVG picture. It keeps the candles that the picture shows, however many there are. */
export class SvgExporter implements Exporter {
  private readonly picture: PictureOptions
  private fitter: CandleFitter<SeriesLabel> | undefined

  constructor(private readonly options: ExporterOptions) {
    this.picture = options.rowFormat.picture ?? DEFAULT_PICTURE
  }

  private get note(): string | undefined {
    return this.options.metadata.source === SAMPLE ? SAMPLE_NOTE : undefined
  }

  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    this.fitter ??= new CandleFitter(batch.series, { maxCandles: maxCandles(this.picture), keep: 'all' })
    this.fitter.add(batch)
  }

  async end(): Promise<void> {
    const picture = this.fitter && drawSvg(this.fitter.end(), this.picture, this.note)
    if (picture !== undefined) await this.options.emit(new TextEncoder().encode(picture))
  }
}
