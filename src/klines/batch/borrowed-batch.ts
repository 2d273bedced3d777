import type { IndexedRows, Kernel } from '../kernel/kernel.js'
import type { SeriesLabel } from '../series.js'
import { KlineBatch } from './kline-batch.js'

/**
 * A batch whose rows lie in the memory of a kernel, without a copy. It is valid until that kernel reads another window or its
 * memory grows. After that every access throws an `Error`: the memory then holds other rows.
 */
export class BorrowedBatch extends KlineBatch {
  private readonly epoch: number

  constructor(
    series: SeriesLabel,
    index: IndexedRows,
    plain: boolean,
    private readonly owner: Kernel,
  ) {
    super(series, index, plain)
    this.epoch = owner.epoch
  }

  override get bytes(): Uint8Array {
    this.check()
    return this.index.bytes
  }

  override get offsets(): Uint32Array {
    this.check()
    return this.index.offsets
  }

  override get numbers(): Float64Array {
    this.check()
    return this.index.numbers
  }

  override get kernel(): Kernel {
    return this.owner
  }

  override toOwned(): KlineBatch {
    const { bytes, offsets, numbers } = this
    return new KlineBatch(
      this.series,
      { bytes: new Uint8Array(bytes), offsets: offsets.slice(), numbers: numbers.slice() },
      this.plain,
    )
  }

  protected override withRows(index: IndexedRows): this {
    return new BorrowedBatch(this.series, index, this.plain, this.owner) as this
  }

  private check(): void {
    if (this.epoch === this.owner.epoch) return
    const { symbol, interval } = this.series
    throw new Error(
      `A borrowed batch of ${symbol} ${interval} is no longer valid: its memory was used for another window. Expected toOwned() to be called before.`,
    )
  }
}
