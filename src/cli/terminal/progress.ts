import type { Ora } from 'ora'
import type { Progress } from '../../download/tally.js'
import type { ChangedCell } from '../../klines/batch/diff.js'
import { seriesName, type WindowRef, windowName } from '../../klines/series.js'
import { formatBytes, formatCount, printable } from './text.js'

/** Milliseconds between two texts: more often nobody reads. */
const EVERY_MS = 80

/** Shows how far a run is. `done` leaves the terminal as it was. */
export interface ProgressDisplay {
  readonly progress: Progress
  done(): void
}

/** How progress is shown: a spinner for a person, a line a window that was asked for (`-v`), or not at all. */
export type ProgressStyle = 'spinner' | 'lines' | 'none'

/** Starts to show progress on stderr; `text` stands there until the first window comes. */
export async function showProgress(style: ProgressStyle, text: string): Promise<ProgressDisplay> {
  if (style === 'none') return { progress: () => {}, done: () => {} }
  return style === 'lines' ? lines() : spinner(text)
}

/** Shows how many of many are done; nothing but a spinner does. */
export async function showCount(
  style: ProgressStyle,
  noun: string,
): Promise<{ count(done: number, total: number): void; done(): void }> {
  if (style !== 'spinner') return { count: () => {}, done: () => {} }
  const { say, done } = await startSpinner(`Looking at the ${noun}`)
  const count = (at: number, of: number) => say(() => `${formatCount(at)} of ${formatCount(of)} ${noun}`, at === of)
  return { count, done }
}

function lines(): ProgressDisplay {
  return {
    progress: ({ window, status, change }) => {
      if (status !== 'cached') process.stderr.write(`${windowName(window)}: ${status}\n`)
      for (const cell of change?.changed ?? []) process.stderr.write(`${changedCell(window, cell)}\n`)
    },
    done: () => {},
  }
}

/** A restated value for people. */
export function changedCell(window: WindowRef, { openTime, column, before, after }: ChangedCell): string {
  return `${seriesName(window)} ${new Date(openTime).toISOString()} ${column}: ${printable(before)} -> ${printable(after)}`
}

async function spinner(text: string): Promise<ProgressDisplay> {
  const { say, done } = await startSpinner(text)
  return {
    progress: ({ done: at, total, window, bytes }) =>
      say(
        () =>
          `${seriesName(window)}  ${formatCount(at)} of ${formatCount(total)} windows, ${formatBytes(bytes)} received`,
        at === total,
      ),
    done,
  }
}

/** A spinner whose text changes now and then, and when it is the last. */
async function startSpinner(text: string): Promise<{ say(text: () => string, last: boolean): void; done(): void }> {
  const { default: ora } = await import('ora')
  const plain = process.env.NO_COLOR ? { color: false as const } : {}
  const spinner: Ora = ora({ text, discardStdin: false, ...plain }).start()
  let next = 0
  const say = (current: () => string, last: boolean) => {
    const now = performance.now()
    if (now < next && !last) return
    next = now + EVERY_MS
    spinner.text = current()
    // Work without a pause for timers draws nothing by itself.
    spinner.render()
  }
  return { say, done: () => spinner.stop() }
}
