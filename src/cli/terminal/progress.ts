import type { Progress } from '../../download/tally.js'
import type { ChangedCell } from '../../klines/batch/diff.js'
import { seriesName, type WindowRef, windowName } from '../../klines/series.js'
import { printNote } from './print.js'
import { formatBytes, formatCount, printable } from './text.js'

/** Time between two texts of a spinner, ms. */
const INTERVAL_MS = 80

/** Shows progress on stderr; `done` restores the terminal. */
export interface ProgressDisplay {
  readonly progress: Progress
  done(): void
}

/** Told how many of all items are done. */
export type Count = (done: number, total: number) => void

/** A spinner for a person, a line for each requested window (`-v`), or nothing. */
export type ProgressStyle = 'spinner' | 'lines' | 'none'

/** Shows the progress of a download; a spinner shows `text` until the first window arrives. */
export async function showProgress(style: ProgressStyle, text: string): Promise<ProgressDisplay> {
  if (style === 'none') return { progress: () => {}, done: () => {} }
  if (style === 'lines') return { progress: printLines, done: () => {} }
  const { update, done } = await startSpinner(text)
  const progress: Progress = ({ done: count, total, window, bytes }) =>
    update(
      () =>
        `${seriesName(window)}  ${formatCount(count)} of ${formatCount(total)} windows, ${formatBytes(bytes)} received`,
      count === total,
    )
  return { progress, done }
}

/** Shows with a spinner, and only with that, how many items are done. */
export async function showCount(style: ProgressStyle, noun: string): Promise<{ count: Count; done(): void }> {
  if (style !== 'spinner') return { count: () => {}, done: () => {} }
  const { update, done } = await startSpinner(`Looking at the ${noun}`)
  const count: Count = (done, total) =>
    update(() => `${formatCount(done)} of ${formatCount(total)} ${noun}`, done === total)
  return { count, done }
}

const printLines: Progress = ({ window, status, change }) => {
  if (status !== 'cached') printNote(`${windowName(window)}: ${status}`)
  for (const cell of change?.changed ?? []) printNote(describeChange(window, cell))
}

function describeChange(window: WindowRef, { openTime, column, before, after }: ChangedCell): string {
  return `${seriesName(window)} ${new Date(openTime).toISOString()} ${column}: ${printable(before)} -> ${printable(after)}`
}

/** A spinner whose text changes at most every 80 ms, and for the last item. */
async function startSpinner(
  text: string,
): Promise<{ update(text: () => string, isLast: boolean): void; done(): void }> {
  const { default: ora } = await import('ora')
  const plain = process.env.NO_COLOR ? { color: false as const } : {}
  const spinner = ora({ text, discardStdin: false, ...plain }).start()
  let next = 0
  const update = (current: () => string, isLast: boolean) => {
    const now = performance.now()
    if (now < next && !isLast) return
    next = now + INTERVAL_MS
    spinner.text = current()
    // Synchronous work leaves the spinner's own timer no turn.
    spinner.render()
  }
  return { update, done: () => spinner.stop() }
}
