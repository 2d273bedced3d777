import { TickMarkType } from 'lightweight-charts'

const LOCALE = 'en-GB'

/** Texts of times, in UTC or in the time zone of the browser. */
export class TimeFormat {
  private readonly full: Intl.DateTimeFormat
  private readonly ticks: ReadonlyMap<TickMarkType, Intl.DateTimeFormat>
  private readonly day: Intl.DateTimeFormat

  constructor(readonly isLocal: boolean) {
    const timeZone = isLocal ? undefined : 'UTC'
    const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(LOCALE, { ...options, timeZone })
    const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
    this.full = format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', ...time })
    this.day = format({ day: 'numeric' })
    this.ticks = new Map([
      [TickMarkType.Year, format({ year: 'numeric' })],
      [TickMarkType.Month, format({ month: 'short' })],
      [TickMarkType.DayOfMonth, this.day],
      [TickMarkType.Time, format(time)],
      [TickMarkType.TimeWithSeconds, format({ ...time, second: '2-digit' })],
    ])
  }

  /** `Thu, 30 Apr 2026, 04:00`; ms UTC. */
  text(time: number): string {
    return this.full.format(time)
  }

  /** Date and time with the name of the zone, for sentences; ms UTC. */
  sentence(time: number): string {
    return `${this.full.format(time)} ${this.zone(time)}`
  }

  /** `UTC`, or the short name of the zone of the browser at a time, ms UTC. */
  zone(time: number): string {
    if (!this.isLocal) return 'UTC'
    const parts = new Intl.DateTimeFormat(LOCALE, { timeZoneName: 'short' }).formatToParts(time)
    return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local time'
  }

  /** The label of a mark on the time axis; seconds. */
  tick(time: number, type: TickMarkType): string {
    return this.ticks.get(type)?.format(time * 1000) ?? this.text(time * 1000)
  }
}
