import { DAY_MS, MINUTE_MS, monthIndex } from '../candles/intervals.js'
import { formatTime } from '../candles/text.js'
import { formatDate } from '../candles/windows.js'

export interface TimeLabel {
  /** The slot at which it stands. */
  readonly index: number
  readonly text: string
}

/** A distance between labels: a label stands where the bucket changes. */
interface Unit {
  /** Longest distance between labels, ms: slots that are longer have other labels. */
  readonly length: number
  readonly bucket: (time: number) => number
  /** `previous`: the time of the label before it. */
  readonly text: (time: number, previous: number) => string
}

const MONTH_MS = 31 * DAY_MS
const day = (time: number) => Math.floor(time / DAY_MS)
/** `12:30`; the first label of a day has the day, and so has a midnight. */
const clockText = (time: number, previous: number) =>
  day(previous) === day(time) && time % DAY_MS !== 0 ? formatTime(time).slice(11) : dayText(time, previous)
/** `03-14`; the first label of a year has the year, too. */
const dayText = (time: number, previous: number) =>
  formatDate(previous).slice(0, 4) === formatDate(time).slice(0, 4) ? formatDate(time).slice(5) : formatDate(time)

const UNITS: readonly Unit[] = [
  ...[15, 30, 60, 120, 180, 360, 720].map(minutes => {
    const length = minutes * MINUTE_MS
    return { length, bucket: (time: number) => Math.floor(time / length), text: clockText }
  }),
  // Every day, every other day, and Mondays: the first one was 5 January 1970.
  ...[[1, 0] as const, [2, 0] as const, [7, 4] as const].map(([days, first]) => {
    return { length: days * DAY_MS, bucket: (time: number) => Math.floor((day(time) - first) / days), text: dayText }
  }),
  // The 1st and the 15th of a month.
  {
    length: 14 * DAY_MS,
    bucket: time => 2 * monthIndex(time) + Number(new Date(time).getUTCDate() >= 15),
    text: dayText,
  },
  ...[1, 3, 6, 12, 24, 60, 120, 240, 600, 1200].map(months => ({
    length: months * MONTH_MS,
    bucket: (time: number) => Math.floor(monthIndex(time) / months),
    text: (time: number) => formatDate(time).slice(0, months < 12 ? 7 : 4),
  })),
]

/**
 * Labels for slots that open at `openTimes`, at least one: the densest times, days, months or years for which no two labels touch.
 * `slotsFor`: how many slots a label of so many characters takes, with the space behind it.
 */
export function timeLabels(openTimes: readonly number[], slotsFor: (characters: number) => number): TimeLabel[] {
  if (openTimes.length === 0) return []
  const [start, second = Infinity] = openTimes
  for (const unit of UNITS) {
    if (unit.length < second - start && unit !== UNITS[UNITS.length - 1]) continue
    const labels = labelsOf(unit, openTimes)
    if (labels.length === 0) break
    const end = ({ index, text }: TimeLabel) => index + slotsFor(text.length)
    if (labels.every((label, at) => at === labels.length - 1 || end(label) <= labels[at + 1].index)) return labels
  }
  return [{ index: 0, text: start % DAY_MS === 0 ? formatDate(start) : formatTime(start) }]
}

function labelsOf({ bucket, text }: Unit, openTimes: readonly number[]): TimeLabel[] {
  const labels: TimeLabel[] = []
  // A label says the day or the year where that is another one than before.
  let previous = openTimes[0]
  for (const [index, time] of openTimes.entries()) {
    // Before the first slot, the label of its bucket may have stood.
    if (bucket(time) === bucket(index > 0 ? openTimes[index - 1] : time - 1)) continue
    labels.push({ index, text: text(time, previous) })
    previous = time
  }
  return labels
}
