import { sha256 } from '../../fs/checksum.js'
import type { Fetched } from '../../http/fetched.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { seriesPath, windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { RecordedCandles } from '../../mirror/record-lines.js'
import type { WindowTimes } from '../../trees/window-ends.js'
import type { CacheWriter } from './cache-writer.js'

/** Records what a service says about windows, as far as their content does not tell that they are final. */
export class WindowRecorder {
  /** The first and last candle of each series that was seen, by the folder of the series. */
  private readonly seen = new Map<string, RecordedCandles>()

  constructor(
    private readonly mirror: Mirror,
    private readonly cacheWriter: CacheWriter,
    /** The present, ms UTC. */
    private readonly now: () => number,
  ) {}

  /** Records a window that was stored. */
  record(window: WindowRef, fetched: Fetched<KlineBatch>): void {
    const path = windowPath(window)
    const times = this.timesOf(fetched)
    const isFinalAlone =
      this.mirror.rules.isFilled(window, fetched.value) && this.mirror.windows.isFinal(window, fetched.value, times)
    if (isFinalAlone && this.mirror.record.window(path) === undefined) return
    const content = { size: fetched.bytes.length, sha256: sha256(fetched.bytes) }
    this.cacheWriter.record({ kind: 'window', path, ...content, ...times })
  }

  /** The exchange renders each answer. */
  private timesOf({ mtimeMs, servedMs }: Fetched<KlineBatch>): WindowTimes {
    const confirmed = Math.min(servedMs, this.now())
    return { time: this.mirror.rules.rendersAnswers ? confirmed : mtimeMs, confirmed }
  }

  /** Takes notice of the candles of a window. */
  see(window: WindowRef, batch: KlineBatch): void {
    if (batch.length === 0) return
    const folder = seriesPath(window)
    const known = this.seen.get(folder) ?? this.mirror.record.seriesCandles(window)
    const [first, last] = [batch.openTime(0), batch.openTime(batch.length - 1)]
    this.seen.set(folder, {
      kind: 'candles',
      folder,
      firstOpenTime: Math.min(first, known?.firstOpenTime ?? first),
      lastOpenTime: Math.max(last, known?.lastOpenTime ?? last),
    })
  }

  /** Records the first and the last candle of each series where they are news. */
  recordCandles(): void {
    const recorded = this.mirror.record.allCandles
    for (const candles of this.seen.values()) {
      const before = recorded.get(candles.folder)
      const isKnown = before?.firstOpenTime === candles.firstOpenTime && before.lastOpenTime === candles.lastOpenTime
      if (!isKnown) this.cacheWriter.record(candles)
    }
    this.seen.clear()
  }
}
