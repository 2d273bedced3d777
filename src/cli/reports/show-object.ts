import { SAMPLE } from '../../http/base-url.js'
import type { WindowChange } from '../../klines/batch/diff.js'
import { COLUMN_KINDS, COLUMNS, type KlineObject } from '../../klines/columns.js'
import { windowSpan } from '../../klines/windows.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { CachedWindow } from '../../mirror/mirror-windows.js'
import type { ReadableFacts } from '../../verify/candle-facts.js'
import type { FinerSum } from '../../verify/finer-sum.js'
import type { Report } from './report.js'
import type { ShowObject } from './schema.js'

/** What the service has by now of a window. */
export interface WindowCheck {
  /** The base address that it was requested from. */
  readonly baseUrl: string
  readonly change: WindowChange
}

/** What is shown beside the candle. */
export interface ShowDetails {
  readonly mirror: Mirror
  /** Its window; undefined when it is not cached. */
  readonly window: CachedWindow | undefined
  readonly check: WindowCheck | undefined
  /** The flags for a download into the mirror, each after a space. */
  readonly location: string
}

/** Whether the candle is not what its finer candles add up to, or the service has another window. New candles at its end do not count. */
export function differs({ finer, startTime, state }: ReadableFacts, check: WindowCheck | undefined): boolean {
  if (finer.some(isDifferent)) return true
  if (check === undefined) return false
  const { lost, changed, added } = check.change
  return lost.length + changed.length > 0 || (state !== 'open' && added.includes(startTime))
}

/** Whether a candle is not what these add up to. */
export function isDifferent({ differences = [] }: FinerSum): boolean {
  return differences.some(({ note }) => note === undefined)
}

/** What is known of the times of a window, ms UTC: by the record of the mirror, or else by its file. */
export function toTimes({ times, mtimeMs, ctimeMs }: CachedWindow, { rules }: Mirror) {
  const recorded = rules.trustsFileTimes ? undefined : times
  return {
    renderedTime: Math.floor(recorded?.time ?? mtimeMs),
    fetchedTime: recorded && Math.floor(recorded.confirmed),
    storedTime: Math.floor(ctimeMs),
  }
}

/** What `show --json` prints. */
export function showObject(
  facts: ReadableFacts,
  { mirror, window: cached, check }: ShowDetails,
): Report<ShowObject>['json'] {
  const { series, time, state, startTime, endTime, candle, before, after, gaps, finer, window } = facts
  const { baseUrl } = mirror
  return {
    ...series,
    baseUrl: baseUrl ?? null,
    sample: baseUrl === SAMPLE,
    mirror: mirror.root,
    time,
    state,
    openTime: startTime,
    endTime,
    candle: candle ? toCandle(COLUMNS.map((_, column) => candle.text(0, column))) : null,
    window: window ? toWindowObject(window, cached, mirror) : null,
    before: before?.openTime(0) ?? null,
    after: after?.openTime(0) ?? null,
    gaps: gaps.map(({ startTime, endTime, missing, lacking }) => ({
      from: startTime,
      to: endTime,
      missing,
      outage: lacking.length > 0,
      lacking,
    })),
    finer: finer.map(({ interval, candles, cells, differences, reason = null }) => ({
      interval,
      candles,
      sum: cells ? toCandle(cells) : null,
      equal: differences ? differences.every(({ note }) => note !== undefined) : null,
      differences: (differences ?? []).map(({ column = null, value, expected, note = null }) => ({
        column,
        value,
        expected,
        note,
      })),
      reason,
    })),
    check: check
      ? {
          baseUrl: check.baseUrl,
          equal: !differs({ ...facts, finer: [] }, check),
          changed: check.change.changed,
          added: check.change.added,
          lost: check.change.lost,
        }
      : null,
  }
}

function toWindowObject(
  window: NonNullable<ReadableFacts['window']>,
  cached: CachedWindow | undefined,
  mirror: Mirror,
) {
  const { startTime, endTime } = windowSpan(window)
  const times = cached && toTimes(cached, mirror)
  return {
    startDate: window.startDate,
    from: startTime,
    to: endTime,
    cached: cached !== undefined,
    final: cached?.final ?? false,
    candles: cached?.batch.length ?? 0,
    bytes: cached?.size ?? 0,
    fetchedTime: times?.fetchedTime ?? null,
    storedTime: times?.storedTime ?? null,
    renderedTime: times?.renderedTime ?? null,
  }
}

/** The cells by name: times and the count as numbers, decimals as text. */
function toCandle(cells: readonly string[]): KlineObject {
  const entries = COLUMNS.map((name, index) => {
    const isNumber = COLUMN_KINDS[index] === 'time' || COLUMN_KINDS[index] === 'count'
    return [name, isNumber ? Number(cells[index]) : cells[index]]
  })
  return Object.fromEntries(entries)
}
