import { DAY_MS, MINUTE_MS, monthIndex } from '../candles/intervals.js'
import { formatTime } from '../candles/text.js'
import { formatDate } from '../candles/windows.js'

/** A label of a time axis. */
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
  readonly text: (time: number, previous: number) => string
}

const FIRST_MONDAY = 4 * DAY_MS
const MONTH_MS = 31 * DAY_MS

const day = (time: number) => Math.floor(time / DAY_MS)
const year = (time: number) => new Date(time).getUTCFullYear()

/** `2026-03-01T12:30`, cut. */
const iso = (time: number, start: number, end: number) => new Date(time).toISOString().slice(start, end)

/** `12:30`; the first label of a day has the day. */
function clockText(time: number, previous: number): string {
  return day(previous) === day(time) ? iso(time, 11, 16) : dayText(time, previous)
}

/** `03-14`; the first label of a year has the year, too. */
function dayText(time: number, previous: number): string {
  return year(previous) === year(time) ? iso(time, 5, 10) : formatDate(time)
}

const CLOCKS: readonly Unit[] = [15, 30, 60, 120, 180, 360, 720].map(minutes => ({
  length: minutes * MINUTE_MS,
  bucket: time => Math.floor(time / (minutes * MINUTE_MS)),
  text: clockText,
}))
const DAYS: readonly Unit[] = [
  { length: DAY_MS, bucket: day, text: dayText },
  { length: 2 * DAY_MS, bucket: time => Math.floor(day(time) / 2), text: dayText },
  { length: 7 * DAY_MS, bucket: time => Math.floor((time - FIRST_MONDAY) / (7 * DAY_MS)), text: dayText },
  // The 1st and the 15th of a month.
  {
    length: 14 * DAY_MS,
    bucket: time => 2 * monthIndex(time) + (new Date(time).getUTCDate() < 15 ? 0 : 1),
    text: dayText,
  },
]
const MONTHS: readonly Unit[] = [1, 3, 6].map(months => ({
  length: months * MONTH_MS,
  bucket: time => Math.floor(monthIndex(time) / months),
  text: time => iso(time, 0, 7),
}))
const YEARS: readonly Unit[] = [1, 2, 5, 10, 20, 50, 100].map(years => ({
  length: years * 12 * MONTH_MS,
  bucket: time => Math.floor(year(time) / years),
  text: time => iso(time, 0, 4),
}))
const UNITS = [...CLOCKS, ...DAYS, ...MONTHS, ...YEARS]

/**
 * Labels for slots that open at `openTimes` (ms UTC, ascending): the densest times, days, months or years for which no two
 * labels touch. `slotsFor` returns how many slots a label of so many characters takes, with the space behind it. At least one
 * label, unless there is no slot.
 */
export function timeLabels(openTimes: readonly number[], slotsFor: (characters: number) => number): TimeLabel[] {
  if (openTimes.length === 0) return []
  const alone = [{ index: 0, text: fullText(openTimes[0]) }]
  if (openTimes.length === 1) return alone
  const distance = openTimes[1] - openTimes[0]
  for (const unit of UNITS) {
    if (unit.length < distance && unit !== UNITS[UNITS.length - 1]) continue
    const labels = labelsOf(unit, openTimes)
    if (labels.length === 0) break
    const fits = ({ index, text }: TimeLabel, next: number) => index + slotsFor(text.length) <= next
    if (labels.every((label, at) => at === labels.length - 1 || fits(label, labels[at + 1].index))) return labels
  }
  return alone
}

/** `2026-03-01`, with the time unless it is midnight: `2026-03-01 13:00`. */
function fullText(time: number): string {
  return time % DAY_MS === 0 ? formatDate(time) : formatTime(time)
}

function labelsOf(unit: Unit, openTimes: readonly number[]): TimeLabel[] {
  const labels: TimeLabel[] = []
  // A label says the day or the year where that is another one than before.
  let previous = openTimes[0]
  for (let index = 0; index < openTimes.length; index++) {
    const time = openTimes[index]
    // Before the first slot, the label of its bucket may have stood.
    const before = index > 0 ? openTimes[index - 1] : time - 1
    if (unit.bucket(time) === unit.bucket(before)) continue
    labels.push({ index, text: unit.text(time, previous) })
    previous = time
  }
  return labels
}
