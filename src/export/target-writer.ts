import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { SeriesLabel } from '../klines/series.js'
import { type EncoderOptions, TargetEncoder } from './target-encoder.js'
import type { TargetFile } from './target-file.js'
import type { Target } from './targets.js'

/** Writes the rows of one target to its file. The first row opens it, so nothing is made for a target without rows. */
export class TargetWriter {
  private readonly encoder: TargetEncoder

  constructor(
    target: Target<SeriesLabel>,
    encoding: EncoderOptions,
    private readonly file: TargetFile,
  ) {
    this.encoder = new TargetEncoder(target, encoding, bytes => file.write(bytes))
  }

  /** Adds rows: series by series, each in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (batch.length > 0) await this.file.open()
    await this.encoder.write(batch)
  }

  /** Writes what is left. The file is on the disk then, but not in its place. */
  async finish(): Promise<void> {
    await this.encoder.end()
    await this.file.finish(this.encoder.counts)
  }

  /** Frees memory when the target is given up. */
  abort(): void {
    this.encoder.abort()
  }
}
