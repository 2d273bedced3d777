import { openCandleFile } from '../candle-files/candle-file.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import type { DiffSide, SideCandles } from './side.js'

/** Where a series is in a file. */
interface FileSeries {
  readonly series: SeriesLabel
  readonly firstBatch: number
  lastBatch: number
  readonly firstOpenTime: number
  lastOpenTime: number
}

/**
 * A file, or the folder of a lake. It is read once to list its series, and again to compare them: once in all if they have the same order
 * on the other side. Throws `bad_input` and `damaged_input`.
 */
export async function openFileSide(name: string, signal: AbortSignal): Promise<DiffSide> {
  const file = await openCandleFile(name)
  const listed = new Map<string, FileSeries>()
  let index = 0
  for await (const batch of file.batches()) {
    signal.throwIfAborted()
    addBatch(listed, batch, index++)
  }
  const reader = new FileReader(() => file.batches(), signal)
  const find = (label: SeriesLabel) => listed.get(seriesName(label))
  return {
    name,
    kind: 'file',
    baseUrl: undefined,
    series: [...listed.values()].map(({ series }) => series),
    span: label => {
      const found = find(label)
      return found && { fromTime: found.firstOpenTime, toTime: found.lastOpenTime + 1 }
    },
    prepare: async () => {},
    open: (label, range) => openSeries(find(label), range, reader),
    close: () => reader.close(),
  }
}

function addBatch(listed: Map<string, FileSeries>, batch: KlineBatch, index: number): void {
  const { firstOpenTime, lastOpenTime, series } = batch
  if (firstOpenTime === undefined || lastOpenTime === undefined) return
  const known = listed.get(seriesName(series))
  if (known) Object.assign(known, { lastBatch: index, lastOpenTime })
  else listed.set(seriesName(series), { series, firstBatch: index, lastBatch: index, firstOpenTime, lastOpenTime })
}

function openSeries(found: FileSeries | undefined, { fromTime, toTime }: TimeRange, reader: FileReader): SideCandles {
  return {
    failures: [],
    lacks: () => false,
    coverage: () => undefined,
    async *batches() {
      if (found === undefined) return
      for await (const batch of reader.read(found.firstBatch, found.lastBatch)) {
        if (seriesName(batch.series) === seriesName(found.series)) yield batch.slice(fromTime, toTime)
      }
    },
  }
}

/** Reads batches of a file by their numbers: on from the last one where that is possible, or else from the start. */
class FileReader {
  private batches: AsyncGenerator<KlineBatch> | undefined
  private next = 0

  constructor(
    private readonly start: () => AsyncGenerator<KlineBatch>,
    private readonly signal: AbortSignal,
  ) {}

  async *read(first: number, last: number): AsyncGenerator<KlineBatch> {
    if (this.next > first) await this.close()
    this.batches ??= this.start()
    while (this.next <= last) {
      this.signal.throwIfAborted()
      const { done, value } = await this.batches.next()
      if (done) return
      if (this.next++ >= first) yield value
    }
  }

  async close(): Promise<void> {
    await this.batches?.return(undefined)
    this.batches = undefined
    this.next = 0
  }
}
