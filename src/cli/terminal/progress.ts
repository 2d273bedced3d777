import { MINUTE_MS } from '../../candles/intervals.js'
import { seriesName, windowName } from '../../candles/series.js'
import type { KlinesEvent, WindowEvent } from '../../engine/events.js'
import { Interruption } from '../signals.js'
import { printNote } from './print.js'
import { ProgressMeter, type ProgressSnapshot } from './progress-meter.js'
import { barText, describeCost, describeDone, type ProgressWords, plainText } from './progress-text.js'
import { describeCell } from './text.js'

/** Time between two updates, ms. */
const PERIODS_MS = { bar: 80, plain: 15_000, none: 60_000 }

/** How progress is shown on stderr. */
export interface ProgressStyle {
  readonly isSilent?: boolean
  /** A line for each requested window (`-v`), in place of a bar. */
  readonly listsWindows?: boolean
  /** End with the last item: data for the terminal follows. */
  readonly endsEarly?: boolean
  /** Only a bar, for work that takes no time that is worth a line. */
  readonly isShort?: boolean
}

/** What shows the snapshots of a run. */
interface View {
  update(progress: ProgressSnapshot): void
  /** Leaves the terminal clean. */
  end(progress: ProgressSnapshot): void
}

/** Runs `work`, and shows its progress at most once a period. An interruption says how much was done. */
export async function showProgress<T>(
  words: ProgressWords,
  { isSilent = false, listsWindows = false, endsEarly = false, isShort = false }: ProgressStyle,
  work: (onEvent: (event: KlinesEvent) => void) => Promise<T>,
): Promise<T> {
  const kind = isSilent ? 'none' : hasBar() && !listsWindows ? 'bar' : isShort ? 'none' : 'plain'
  const view = await openView(kind, words)
  const meter = new ProgressMeter()
  let nextMs = performance.now() + PERIODS_MS[kind]
  let hasEnded = false
  const update = () => {
    if (hasEnded) return
    nextMs = performance.now() + PERIODS_MS[kind]
    timer.refresh()
    view.update(meter.snapshot())
  }
  // Waits and slow hosts are shown although nothing arrives.
  const timer = setInterval(update, PERIODS_MS[kind]).unref()
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    clearInterval(timer)
    view.end(meter.snapshot())
  }
  const advance = (done: number, total: number, label = '', limitMs = 0) => {
    meter.advance(done, total, label, limitMs)
    // Synchronous work leaves the timer no turn.
    if (performance.now() >= nextMs) update()
    if (done === total && endsEarly) end()
  }
  const onEvent = (event: KlinesEvent) => {
    if (event.type === 'plan') {
      meter.advance(0, event.windows, '', event.limitMs)
      // Who waits for minutes hears of it before the first request.
      if (event.limitMs > MINUTE_MS && kind !== 'none') printNote(`This takes ${describeCost(event)}.`)
    } else if (event.type === 'network') meter.setNetwork(event)
    else if (event.type === 'progress' && 'window' in event) {
      if (listsWindows && !isSilent) printWindow(event)
      advance(event.done, event.total, seriesName(event.window), event.limitMs)
    } else if (event.type === 'progress') advance(event.done, event.total)
  }
  try {
    return await work(onEvent)
  } catch (error) {
    const done = describeDone(meter.snapshot(), words)
    throw error instanceof Interruption && done !== undefined ? error.after(done) : error
  } finally {
    end()
  }
}

/** A bar needs a person at a terminal. One of unknown size reports 0 columns, in which its lines would wrap without end. */
function hasBar(): boolean {
  const { isTTY, columns } = process.stderr
  return isTTY === true && columns > 0 && process.env.TERM !== 'dumb'
}

async function openView(kind: keyof typeof PERIODS_MS, words: ProgressWords): Promise<View> {
  const none = () => {}
  if (kind === 'none') return { update: none, end: none }
  if (kind === 'plain') return { update: progress => printNote(plainText(progress, words)), end: none }
  const { default: ora } = await import('ora')
  const plain = process.env.NO_COLOR ? { color: false as const } : {}
  const spinner = ora({ text: words.start, discardStdin: false, ...plain }).start()
  const update = (progress: ProgressSnapshot) => {
    spinner.text = barText(progress, words, process.stderr.columns)
    spinner.render()
  }
  const end = (progress: ProgressSnapshot) => {
    update(progress)
    spinner.stop()
  }
  return { update, end }
}

function printWindow({ window, status, change }: WindowEvent): void {
  if (status !== 'cached') printNote(`${windowName(window)}: ${status}`)
  for (const cell of change?.cells ?? []) {
    printNote(`${seriesName(window)} ${new Date(cell.openTime).toISOString()} ${describeCell(cell)}`)
  }
}
