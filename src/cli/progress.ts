import type { Ora } from 'ora'
import type { Progress } from '../download/download-klines.js'
import { seriesName, windowName } from '../klines/series.js'
import { formatBytes, formatCount } from './text.js'

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

function lines(): ProgressDisplay {
  return {
    progress: ({ window, how }) => {
      if (how !== 'held') process.stderr.write(`${windowName(window)}: ${how}\n`)
    },
    done: () => {},
  }
}

async function spinner(text: string): Promise<ProgressDisplay> {
  const { default: ora } = await import('ora')
  const plain = process.env.NO_COLOR ? { color: false as const } : {}
  const spinner: Ora = ora({ text, discardStdin: false, ...plain }).start()
  let next = 0
  return {
    progress: ({ done, total, window, bytes }) => {
      const now = performance.now()
      if (now < next && done < total) return
      next = now + EVERY_MS
      spinner.text = `${seriesName(window)}  ${formatCount(done)} of ${formatCount(total)} windows, ${formatBytes(bytes)} received`
      // Windows that are held come without a pause for timers: draw now.
      spinner.render()
    },
    done: () => spinner.stop(),
  }
}
