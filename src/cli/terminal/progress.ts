import { MINUTE_MS } from '../../candles/intervals.js'
import { seriesName, windowName } from '../../candles/series.js'
import type { KlinesEvent, WindowEvent } from '../../engine/run.js'
import type { NetworkActivity } from '../../sources/fetcher.js'
import { printNote } from './print.js'
import { barText, describeCost, type Progress, type ProgressWords, plainText } from './progress-text.js'
import { describeCell } from './text.js'

/** Time between two updates, ms. */
const PERIODS_MS = { bar: 80, plain: 15_000, none: 60_000 }
/** A rate over less time says nothing. */
const MIN_RATE_MS = 1_000

export interface ProgressStyle {
  readonly isSilent?: boolean
  /** A line for each requested window (`-v`), in place of a bar. */
  readonly listsWindows?: boolean
  /** Ends with the last item, as data for the terminal follows. */
  readonly endsEarly?: boolean
}

/** Runs `work`, and shows its progress at most once a period. */
export async function showProgress<T>(
  words: ProgressWords,
  { isSilent = false, listsWindows = false, endsEarly = false }: ProgressStyle,
  work: (onEvent: (event: KlinesEvent) => void) => Promise<T>,
): Promise<T> {
  const kind = isSilent ? 'none' : hasBar() && !listsWindows ? 'bar' : 'plain'
  const spinner = kind === 'bar' ? await startSpinner(words.start) : undefined
  const meter = new ProgressMeter()
  let nextMs = performance.now() + PERIODS_MS[kind]
  const draw = () => {
    if (!spinner) return
    spinner.text = barText(meter.read(), words, process.stderr.columns)
    spinner.render()
  }
  const update = () => {
    nextMs = performance.now() + PERIODS_MS[kind]
    timer.refresh()
    draw()
    if (kind === 'plain') printNote(plainText(meter.read(), words))
  }
  // Waits and slow hosts are shown although nothing arrives.
  const timer = setInterval(update, PERIODS_MS[kind]).unref()
  const end = () => {
    if (nextMs === Infinity) return
    nextMs = Infinity
    clearInterval(timer)
    draw()
    spinner?.stop()
  }
  const onEvent = (event: KlinesEvent) => {
    if (event.type === 'network') meter.setNetwork(event)
    if (event.type === 'plan') {
      meter.advance(0, event.windows, '', event.limitMs)
      // Who waits for minutes hears of it before the first request.
      if (event.limitMs > MINUTE_MS && kind !== 'none') printNote(`This takes ${describeCost(event)}.`)
    }
    if (event.type !== 'progress') return
    const window = 'window' in event ? event : undefined
    if (window && listsWindows && !isSilent) printWindow(window)
    meter.advance(event.done, event.total, window ? seriesName(window.window) : '')
    // Synchronous work leaves the timer no turn.
    if (performance.now() >= nextMs) update()
    if (event.done === event.total && endsEarly) end()
  }
  try {
    return await work(onEvent)
  } finally {
    end()
  }
}

const IDLE = { requests: 0, bytes: 0, retrying: 0, failure: undefined, pauseMs: 0, pauseReason: undefined }

/** Measures the progress of a run. `now`: a clock that never jumps, ms. */
export class ProgressMeter {
  private items: Pick<Progress, 'done' | 'total' | 'label'> = { done: 0, total: undefined, label: '' }
  private network: NetworkActivity = IDLE
  /** The time for the lists says nothing about the windows. */
  private plannedMs = 0
  private limitMs = 0
  private pausedUntil = 0

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Items are done, the latest of them of `label`. `limitMs`: how long all take by the limits of the host, if that is known. */
  advance(done: number, total: number, label: string, limitMs = this.limitMs): void {
    if (this.items.total === undefined) this.plannedMs = this.now()
    this.limitMs = limitMs
    this.items = { done, total, label }
  }

  setNetwork(network: NetworkActivity): void {
    this.network = network
    this.pausedUntil = this.now() + network.pauseMs
  }

  read(): Progress {
    const { items, network } = this
    const { done, total } = items
    const now = this.now()
    const pauseMs = Math.max(0, this.pausedUntil - now)
    const spanMs = now - this.plannedMs
    const hasRate = total !== undefined && done > 0 && spanMs >= MIN_RATE_MS
    const byRate = hasRate ? (spanMs * (total - done)) / done : undefined
    const limitMs = this.limitMs - spanMs
    // Between the pauses that a limit makes, the rate is much too high.
    const byLimit = limitMs > MINUTE_MS ? Math.max(limitMs, byRate ?? 0) : byRate
    const leftMs = byLimit && Math.max(pauseMs, byLimit)
    return { ...network, ...items, pauseMs, leftMs }
  }
}

/** A terminal of unknown size reports 0 columns. */
function hasBar(): boolean {
  const { isTTY, columns } = process.stderr
  return isTTY === true && columns > 0 && process.env.TERM !== 'dumb'
}

async function startSpinner(text: string) {
  const { default: ora } = await import('ora')
  return ora({ text, discardStdin: false, ...(process.env.NO_COLOR && { color: false as const }) }).start()
}

function printWindow({ window, status, change }: WindowEvent): void {
  if (status !== 'cached') printNote(`${windowName(window)}: ${status}`)
  for (const cell of change?.cells ?? [])
    printNote(`${seriesName(window)} ${new Date(cell.openTime).toISOString()} ${describeCell(cell)}`)
}
