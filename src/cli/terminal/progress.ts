import type { KlinesEvent, WindowEvent } from '../../engine/events.js'
import type { WindowDifference } from '../../engine/outcome.js'
import { seriesName, type WindowRef, windowName } from '../../klines/series.js'
import { toSourceName } from '../../sources/base-url.js'
import { describeCell } from '../reports/changes.js'
import { Interruption } from '../signals.js'
import { printNote } from './print.js'
import { ProgressMeter, type ProgressSnapshot } from './progress-meter.js'
import { barText, describeCost, describeDone, type ProgressWords, plainText } from './progress-text.js'

/** How progress is shown, and whether each requested window is listed (`-v`). */
export interface ProgressStyle {
  readonly kind: 'bar' | 'plain' | 'none'
  readonly windows: boolean
}

export const NO_PROGRESS: ProgressStyle = { kind: 'none', windows: false }

/** How the progress of a download from an address is told. */
export function downloadingFrom(baseUrl: string | undefined): ProgressWords {
  return { start: `Fetching lists from ${toSourceName(baseUrl)}`, verb: 'Downloading', noun: 'window' }
}

/** Passes on the warnings of a run. */
export function warningsTo(warn: (warning: string) => void): (event: KlinesEvent) => void {
  return event => event.type === 'warning' && warn(event.message)
}

/** Time between two updates, ms. */
const PERIODS_MS = { bar: 80, plain: 15_000 }

/** What shows the snapshots of a run on stderr. */
interface View {
  readonly periodMs: number
  update(progress: ProgressSnapshot): void
  /** Leaves the terminal clean. */
  end(progress: ProgressSnapshot): void
}

/** Shows the progress of a run until `end`, at most once a period. */
export class ProgressDisplay {
  private readonly meter = new ProgressMeter()
  private readonly timer: NodeJS.Timeout
  private nextMs: number
  private hasEnded = false

  private constructor(
    private readonly view: View,
    private readonly style: ProgressStyle,
    /** End with the last item: data for the terminal follows. */
    private readonly endsEarly: boolean,
  ) {
    this.nextMs = performance.now() + view.periodMs
    // Waits and slow hosts are shown although nothing arrives.
    this.timer = setInterval(() => this.update(), view.periodMs).unref()
  }

  /** Runs `work` with a display that ends with it. An interruption says how much was done. */
  static async during<T>(
    style: ProgressStyle,
    words: ProgressWords,
    work: (display: ProgressDisplay) => Promise<T>,
    { endsEarly = false } = {},
  ): Promise<T> {
    const display = new ProgressDisplay(await openView(style.kind, words), style, endsEarly)
    try {
      return await work(display)
    } catch (error) {
      const done = describeDone(display.meter.snapshot(), words)
      throw error instanceof Interruption && done !== undefined ? error.after(done) : error
    } finally {
      display.end()
    }
  }

  /** Shows what happens in a run; warnings go to `warn`. */
  readonly events =
    (warn: (warning: string) => void) =>
    (event: KlinesEvent): void => {
      if (event.type === 'plan') {
        this.meter.advance(0, event.windows, '', event.limitMs)
        // Who waits for minutes hears of it before the first request.
        if (event.limitMs > 0 && this.style.kind !== 'none') printNote(`This takes ${describeCost(event)}.`)
      } else if (event.type === 'network') this.meter.setNetwork(event)
      else if (event.type === 'warning') warn(event.message)
      else if ('window' in event) this.addWindow(event)
      else this.advance(event.done, event.total)
    }

  private addWindow({ done, total, window, status, limitMs, change }: WindowEvent): void {
    if (this.style.windows) printWindow(window, status, change)
    this.advance(done, total, seriesName(window), limitMs)
  }

  readonly advance = (done: number, total: number, label = '', limitMs = 0): void => {
    this.meter.advance(done, total, label, limitMs)
    // Synchronous work leaves the timer no turn.
    if (performance.now() >= this.nextMs) this.update()
    if (done === total && this.endsEarly) this.end()
  }

  private end(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    clearInterval(this.timer)
    this.view.end(this.meter.snapshot())
  }

  private update(): void {
    if (this.hasEnded) return
    this.nextMs = performance.now() + this.view.periodMs
    this.timer.refresh()
    this.view.update(this.meter.snapshot())
  }
}

async function openView(kind: ProgressStyle['kind'], words: ProgressWords): Promise<View> {
  if (kind === 'bar') return openBar(words)
  if (kind === 'none') return { periodMs: 60_000, update: () => {}, end: () => {} }
  const update = (progress: ProgressSnapshot) => printNote(plainText(progress, words))
  return { periodMs: PERIODS_MS.plain, update, end: () => {} }
}

async function openBar(words: ProgressWords): Promise<View> {
  const { default: ora } = await import('ora')
  const { stderr } = process
  const plain = process.env.NO_COLOR ? { color: false as const } : {}
  const spinner = ora({ text: words.start, discardStdin: false, ...plain }).start()
  const update = (progress: ProgressSnapshot) => {
    spinner.text = barText(progress, words, stderr.columns)
    spinner.render()
  }
  const end = (progress: ProgressSnapshot) => {
    update(progress)
    spinner.stop()
  }
  return { periodMs: PERIODS_MS.bar, update, end }
}

function printWindow(window: WindowRef, status: string, change: WindowDifference | undefined): void {
  if (status !== 'cached') printNote(`${windowName(window)}: ${status}`)
  for (const cell of change?.cells ?? []) {
    printNote(`${seriesName(window)} ${new Date(cell.openTime).toISOString()} ${describeCell(cell)}`)
  }
}
