import { CandleTable } from './candle-table.js'
import type { Kernel } from './kernel.js'

/** Tables of one kernel by name. The memory of a kernel is never freed: whoever needs the same tables again takes these. */
export class CandleTables {
  private readonly tables = new Map<string, CandleTable>()

  constructor(readonly kernel: Kernel) {}

  /** The table of a name, emptied. */
  empty(name: string): CandleTable {
    const table = this.tables.get(name) ?? new CandleTable(this.kernel)
    this.tables.set(name, table)
    table.clear()
    return table
  }
}
