import type { RequestPause } from './data/request-pause.js'
import type { LoadProgress } from './data/series-windows.js'
import { element } from './element.js'
import { formatWait, loadingText } from './progress-text.js'

/** What loads faster is not mentioned, ms. */
const DELAY_MS = 400

/** Says what is loaded, how far that is, and when a service that limits requests is asked again. */
export class Activity implements LoadProgress {
  private readonly root = element('activity')
  private readonly text = element('activity-text')
  private readonly pause = element('pause')
  private readonly countdown = element('countdown')
  private name = 'candles'
  private done = 0
  private total = 0
  private runs = 0
  private timer: number | undefined
  private isSlow = false

  constructor(
    private readonly chart: HTMLElement,
    requestPause: RequestPause,
  ) {
    requestPause.onTick = seconds => this.showPause(seconds)
    element('try-now').addEventListener('click', () => requestPause.end())
  }

  /** What is loaded from now on. */
  begin(name: string): void {
    ;[this.name, this.done, this.total] = [name, 0, 0]
    this.show()
  }

  /** Counts windows that will be requested, until nothing is loaded any more. */
  add(windows: number): void {
    this.total += windows
    this.show()
  }

  addLoaded(): void {
    this.done++
    this.show()
  }

  /** Shows that something is loaded as long as this is under way. */
  async during(work: () => Promise<void>): Promise<void> {
    this.chart.ariaBusy = 'true'
    this.timer ??= setTimeout(() => {
      this.isSlow = true
      this.show()
    }, DELAY_MS)
    this.runs++
    try {
      await work()
    } finally {
      this.runs--
      if (this.runs === 0) this.finish()
    }
  }

  private finish(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.isSlow = false
    ;[this.done, this.total] = [0, 0]
    this.chart.ariaBusy = 'false'
    this.show()
  }

  private show(): void {
    this.text.textContent = this.isSlow ? loadingText(this.name, this.done, this.total) : ''
    this.root.hidden = !this.isSlow && this.pause.hidden
  }

  private showPause(seconds: number): void {
    this.pause.hidden = seconds === 0
    const wait = formatWait(seconds)
    if (this.countdown.textContent !== wait) this.countdown.textContent = wait
    this.show()
  }
}
