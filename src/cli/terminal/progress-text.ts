import { toSourceName } from '../../candles/base-url.js'
import { MINUTE_MS } from '../../candles/intervals.js'
import { cutToColumns, formatBytes, formatCount, formatDuration, plural } from '../../candles/text.js'
import { cleanText } from '../../sources/fetch-error.js'
import type { NetworkActivity } from '../../sources/fetcher.js'
import type { Cost } from '../../sources/source.js'

const BAR_WIDTH = 16

export interface ProgressWords {
  /** What it does before the number of items is known, such as `Fetching lists`. */
  readonly start: string
  /** Such as `Downloading`. */
  readonly verb: string
  /** Such as `window`. */
  readonly noun: string
}

export interface Progress extends NetworkActivity {
  readonly done: number
  /** Undefined while the lists are fetched that tell it. */
  readonly total: number | undefined
  /** The series of the latest item that is done. */
  readonly label: string
  /** Undefined as long as it cannot be estimated. */
  readonly leftMs: number | undefined
}

export const READING: ProgressWords = { start: 'Reading the mirror', verb: 'Reading', noun: 'window' }

export function downloadingFrom(baseUrl: string | undefined): ProgressWords {
  return { start: `Fetching lists from ${toSourceName(baseUrl)}`, verb: 'Downloading', noun: 'window' }
}

/** The requests to an exchange, and their time if that is minutes. */
export function describeCost({ requests, limitMs }: Cost): string {
  const minutes = Math.ceil(limitMs / MINUTE_MS)
  const count = `about ${plural(requests, 'request')} to the exchange`
  return minutes > 1 ? `${count}, and at half its limit ${plural(minutes, 'minute')}` : count
}

/** Two lines for a terminal of so many columns: what is under way, and how far it is. */
export function barText(progress: Progress, words: ProgressWords, columns: number): string {
  const { done, total, label } = progress
  const wait = describeWait(progress, words)
  // The spinner and a blank stand before the first line.
  if (total === undefined) return cutToColumns(words.start + wait, columns - 2)
  const head = done === total ? 'Finishing' : `${words.verb} ${label}`.trimEnd()
  const filled = Math.floor((BAR_WIDTH * done) / Math.max(total, 1))
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `
  const percent = formatPercent(done, total).padStart(4)
  const line = [percent, countText(done, total, words), ...describeAmount(progress)].join('  ')
  // The bar goes first.
  const shown = bar.length + line.length + 3 <= columns ? bar + line : line
  return `${cutToColumns(head + wait, columns - 2)}\n  ${cutToColumns(shown, columns - 3)}`
}

/** One line for a log. */
export function plainText(progress: Progress, words: ProgressWords): string {
  const { done, total, label } = progress
  const wait = describeWait(progress, words)
  if (total === undefined) return words.start + wait
  const counts = `${countText(done, total, words)} (${formatPercent(done, total)})`
  const underWay = done === total || label === '' ? '' : `; now ${label}`
  return [counts, ...describeAmount(progress)].join(', ') + underWay + wait
}

function countText(done: number, total: number, { noun }: ProgressWords): string {
  return `${formatCount(done)} of ${plural(total, noun)}`
}

function describeAmount({ done, total, bytes, leftMs }: Progress): string[] {
  const parts = [
    bytes > 0 && formatBytes(bytes),
    leftMs !== undefined && done < Number(total) && `${formatDuration(leftMs)} left`,
  ]
  return parts.flatMap(part => part || [])
}

function describeWait(progress: Progress, { noun }: ProgressWords): string {
  const { total, pauseMs, pauseReason = 'waiting', retrying, failure } = progress
  if (pauseMs > 0) return `; ${pauseReason}, resuming in ${Math.ceil(pauseMs / 1000)} s`
  if (retrying === 0) return ''
  const what = plural(retrying, total === undefined ? 'list' : noun)
  return `; retrying ${what}${failure === undefined ? '' : `: ${cleanText(failure)}`}`
}

/** `100%` only when all is done. */
function formatPercent(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.floor((100 * done) / total)}%`
}
