import { approximateLength, type Interval } from '../candles/intervals.js'
import { Mirror } from '../mirror/mirror.js'
import { CandleTable } from '../rows/candle-table.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { type CrossCheck, CrossChecker } from './cross-check.js'
import { type ReadScope, type SeriesFindings, SeriesReader, type SeriesTask } from './series-reader.js'

/** How many of the shortest candles are in memory at once, at least: 1 MB, and 5 MB with all longer intervals and the sums. */
const SLICE_CANDLES = 7_000

export type SymbolFindings = CrossCheck & { readonly series: readonly SeriesFindings[] }

export type WorkerScope = ReadScope & { readonly root: string }

export function verifyInWorker({ root, ...scope }: WorkerScope) {
  const verifier = new SymbolVerifier(new Mirror(root), scope)
  return (task: readonly SeriesTask[]): Promise<SymbolFindings> => verifier.verify(task)
}

/** Reads, inspects and compares the series of one symbol after another, slice by slice of time, in the same memory. */
export class SymbolVerifier {
  /** The memory of a kernel is never freed: the next symbol takes these tables again. */
  private readonly tables = new Map<Interval, CandleTable>()

  constructor(
    private readonly mirror: Mirror,
    private readonly scope: ReadScope,
    private readonly kernel = new Kernel(),
    private readonly sliceMs?: number,
  ) {}

  /** `tasks`: the series of one symbol. Throws `mirror_unusable`. */
  async verify(
    tasks: readonly SeriesTask[],
    afterRead: () => Promise<void> | undefined = () => undefined,
  ): Promise<SymbolFindings> {
    const lengths = tasks.map(({ series }) => approximateLength(series.interval))
    // The candles of a longer one that is not whole yet are added up in each slice.
    const sliceMs = this.sliceMs ?? Math.max(SLICE_CANDLES * Math.min(...lengths), ...lengths)
    const readers = tasks.map(task => {
      const { interval } = task.series
      const table = this.tables.get(interval) ?? new CandleTable(this.kernel)
      this.tables.set(interval, table)
      table.clear()
      return new SeriesReader(this.mirror, task, table, this.scope)
    })
    const readTo = async (time: number) => {
      for (const reader of readers) {
        while (reader.needsMore(time)) {
          reader.readNext()
          await afterRead()
        }
      }
    }
    // The first candles set the grids.
    await readTo(-Infinity)
    const checker = new CrossChecker(readers, this.scope.range, this.mirror.rules.market?.isPrice)
    let end = Math.min(...readers.map(({ firstOpenTime = Infinity }) => firstOpenTime))
    do {
      end = readers.every(reader => !reader.needsMore(Infinity)) ? Infinity : end + sliceMs
      await readTo(end)
      checker.check(end)
    } while (end !== Infinity)
    const named = readers.filter(({ isNamed }) => isNamed)
    const series = named.map(reader => reader.end(checker.unverified.get(reader) ?? 0))
    return { series, ...checker.result }
  }
}
