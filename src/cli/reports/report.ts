import type { TimeRange } from '../../klines/time-range.js'
import { SAMPLE } from '../../sources/base-url.js'

/** What a command shows: the object that `--json` prints, to which `warnings` are added, and the text for people. */
export interface Report<Json extends object = object> {
  readonly json: Unchanged<Omit<Json, 'warnings'>>
  readonly text: () => string
}

/** What nobody changes any more, with all that is in it. */
export type Unchanged<Value> = { readonly [Key in keyof Value]: Unchanged<Value[Key]> }

/** The same in pieces, for what may be more than memory holds. */
export interface StreamedReport {
  readonly json: (warnings: readonly string[]) => AsyncIterable<string>
  readonly text: () => AsyncIterable<string>
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/** Where candles come from, and of which range they are, as `--json` has it. */
export function locationObject(source: { baseUrl: string | undefined; mirror: string; range: TimeRange }) {
  const { baseUrl = null, mirror, range } = source
  return { baseUrl, sample: baseUrl === SAMPLE, mirror, range: rangeObject(range) }
}

/** A range as `--json` has it: an open end is null. */
export function rangeObject({ fromTime, toTime }: TimeRange) {
  const [from, to] = [fromTime, toTime].map(time => (Number.isFinite(time) ? time : null))
  return { from, to }
}
