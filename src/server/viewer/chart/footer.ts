import { formatCount, plural } from '../../../klines/text.js'
import { formatTime } from './address.js'
import type { SeriesWindows } from './data/series-windows.js'
import type { Timeline } from './data/timeline.js'
import { element } from './element.js'

/** Says what is loaded, for people and for screen readers. */
export class Footer {
  private readonly status = element('status')

  get text(): string {
    return this.status.textContent
  }

  show(timeline: Timeline, windows: SeriesWindows): void {
    const { candles, missing, missingWindows, length } = timeline
    const [first, last] = [0, length - 1].map(index =>
      formatTime(timeline.openTime(index)).replace('T', ' ').replace('Z', ''),
    )
    const parts = [
      `${plural(candles, 'candle')} from ${first} to ${last} UTC, ${formatCount(missing)} missing`,
      ...(missingWindows > 0 ? [`${plural(missingWindows, 'window')} not in this mirror`] : []),
      ...(windows.isAtStart && windows.isAtEnd
        ? [windows.coverage.upstream ? 'all there are' : 'all in this mirror']
        : []),
    ]
    Object.assign(this.status.dataset, { candles, missing, missingWindows })
    this.status.textContent = parts.join(' · ')
  }

  clear(): void {
    for (const name of Object.keys(this.status.dataset)) delete this.status.dataset[name]
    this.status.textContent = ''
  }
}
