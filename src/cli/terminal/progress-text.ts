import { MINUTE_MS } from '../../candles/intervals.js'
import { formatBytes, formatCount, plural } from '../../candles/text.js'
import { toSourceName } from '../../sources/base-url.js'
import type { Cost } from '../../sources/source.js'
import type { ProgressSnapshot } from './progress-meter.js'
import { cutText, formatClock, printable } from './text.js'

/** A bar has so many characters, if there is room. */
const BAR_WIDTH = 16
/** Lists take less time than this, unless the service does not answer, ms. */
const SLOW_LISTS_MS = 2_000

/** What a run does, and to what. */
export interface ProgressWords {
  /** What it does before the number of items is known, such as `Fetching lists`. */
  readonly start: string
  /** Such as `Downloading`. */
  readonly verb: string
  /** Such as `window`. */
  readonly noun: string
}

export const LISTS: ProgressWords = { start: 'Fetching lists', verb: '', noun: 'list' }
export const READING: ProgressWords = { start: 'Reading the mirror', verb: 'Reading', noun: 'window' }

/** How the progress of a download from an address is told. */
export function downloadingFrom(baseUrl: string | undefined): ProgressWords {
  return { start: `Fetching lists from ${toSourceName(baseUrl)}`, verb: 'Downloading', noun: 'window' }
}

/** The requests to an exchange, and their time if that is minutes, as part of a sentence. */
export function describeCost({ requests, limitMs }: Cost): string {
  const minutes = Math.ceil(limitMs / MINUTE_MS)
  const count = `about ${plural(requests, 'request')} to the exchange`
  return minutes > 1 ? `${count}, and at half its limit ${plural(minutes, 'minute')}` : count
}

/** Two lines for a terminal of so many columns: what is under way, and how far it is. */
export function barText(progress: ProgressSnapshot, { start, verb, noun }: ProgressWords, columns: number): string {
  const { done, total, label } = progress
  const wait = describeWait(progress, total === undefined ? 'list' : noun)
  if (total === undefined) return cutText(joinParts([`${start}${describeSlowness(progress)}`, wait]), columns - 2)
  const head = joinParts([done === total ? 'Finishing' : `${verb} ${label}`.trimEnd(), wait])
  const counts = `${formatCount(done)} of ${plural(total, noun)}`
  const parts = [`${formatPercent(done, total).padStart(4)}  ${counts}`, ...describeRate(progress)]
  const filled = Math.floor((BAR_WIDTH * done) / Math.max(total, 1))
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `
  // What does not fit is left out from the end; the bar goes first.
  const isWide = columns >= bar.length + parts.join('  ').length + 3
  let line = isWide ? bar : ''
  for (const [index, part] of parts.entries()) {
    const next = index === 0 ? line + part : `${line}  ${part}`
    if (next.length + 3 <= columns) line = next
  }
  return `${cutText(head, columns - 2)}\n  ${line}`
}

/** One line for a log. */
export function plainText(progress: ProgressSnapshot, { start, noun }: ProgressWords): string {
  const { done, total, label } = progress
  const wait = describeWait(progress, total === undefined ? 'list' : noun)
  if (total === undefined) return joinParts([`${start}${describeSlowness(progress)}`, wait])
  const counts = `${formatCount(done)} of ${plural(total, noun)} (${formatPercent(done, total)})`
  const underWay = done === total || label === '' ? undefined : `now ${label}`
  return joinParts([[counts, ...describeRate(progress)].join(', '), underWay, wait])
}

/** How much of a run is done, as part of a sentence; undefined when nothing is. */
export function describeDone({ done, total, bytes }: ProgressSnapshot, { noun }: ProgressWords): string | undefined {
  if (total === undefined) return undefined
  const received = bytes === 0 ? '' : ` (${formatBytes(bytes)} received)`
  return `${formatCount(done)} of ${plural(total, noun)}${received}`
}

function describeRate({ done, total, bytes, bytesPerSecond, leftMs }: ProgressSnapshot): string[] {
  const parts = bytes === 0 ? [] : [formatBytes(bytes), `${formatBytes(Math.round(bytesPerSecond))}/s`]
  if (bytesPerSecond === 0) parts.splice(1)
  return leftMs === undefined || done === total ? parts : [...parts, `${formatClock(leftMs)} left`]
}

function describeSlowness({ elapsedMs, requests, bytes }: ProgressSnapshot): string {
  if (elapsedMs < SLOW_LISTS_MS) return ''
  return ` (${Math.floor(elapsedMs / 1000)} s${requests > 0 && bytes === 0 ? ', no answer yet' : ''})`
}

function describeWait(progress: ProgressSnapshot, noun: string): string | undefined {
  const { pauseMs, pauseReason, retrying, failure } = progress
  if (pauseMs > 0) return `${pauseReason ?? 'waiting'}, resuming in ${Math.ceil(pauseMs / 1000)} s`
  if (retrying === 0) return undefined
  return `retrying ${plural(retrying, noun)}${failure === undefined ? '' : `: ${printable(failure)}`}`
}

function joinParts(parts: readonly (string | undefined)[]): string {
  return parts.filter(part => part !== undefined).join('; ')
}

/** `100%` only when all is done. */
function formatPercent(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.floor((100 * done) / total)}%`
}
