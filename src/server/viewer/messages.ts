import { plural } from '../../candles/text.js'
import type { ChoiceLink } from './absence.js'
import { create, element } from './elements.js'
import { requestPause } from './service.js'

/** `Loading SOLUSDT 4h, 1 of 3 windows` */
export function loadingText(name: string, done: number, total: number): string {
  return `Loading ${name}${total > 0 ? `, ${done} of ${plural(total, 'window')}` : ''}`
}

/** `45 s`, `12 min`, `3 h`: rounded up. */
export function formatWait(seconds: number): string {
  if (seconds <= 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`
}

/**
 * Tells people what is wrong and what they can do; what is loaded and how far that is; and when a service that limits requests is asked
 * again.
 */
export class Messages {
  private readonly message = element('message')
  private readonly choices = element('message-choices')
  private readonly retry = element('retry')
  private onRetry: (() => void) | undefined
  private readonly loading = element('activity-text')
  private readonly pause = element('pause')
  /** What is loaded, and how many of its windows have come. */
  name = 'candles'
  private done = 0
  private total = 0
  private runs = 0

  constructor(private readonly chart: HTMLElement) {
    element('close').addEventListener('click', () => this.hide())
    this.retry.addEventListener('click', () => {
      const { onRetry } = this
      this.hide()
      onRetry?.()
    })
    element('try-now').addEventListener('click', () => requestPause.end())
    requestPause.onTick = seconds => {
      this.pause.hidden = seconds === 0
      element('countdown').textContent = formatWait(seconds)
      this.showLoading()
    }
  }

  /** `retry`: what a button does that says so. */
  show(text: string, { retry, choices = [] }: { retry?: () => void; choices?: readonly ChoiceLink[] } = {}): void {
    this.onRetry = retry
    this.retry.hidden = retry === undefined
    this.choices.replaceChildren(
      ...choices.map(({ text, href }) => {
        const item = create('li')
        item.append(create('a', text, { href }))
        return item
      }),
    )
    this.choices.hidden = choices.length === 0
    this.message.hidden = false
    element('message-text').textContent = text
  }

  hide(): void {
    this.message.hidden = true
    this.onRetry = undefined
  }

  /** Counts windows that will be requested, until nothing is loaded any more. */
  add(windows: number): void {
    this.total += windows
    this.showLoading()
  }

  addLoaded(): void {
    this.done++
    this.showLoading()
  }

  /** Shows that something is loaded as long as this is under way. */
  async during(work: () => Promise<void>): Promise<void> {
    this.runs++
    this.showLoading()
    try {
      await work()
    } finally {
      this.runs--
      if (this.runs === 0) [this.done, this.total] = [0, 0]
      this.showLoading()
    }
  }

  /** What loads fast is not seen: the style sheet shows it a moment later. */
  private showLoading(): void {
    const isBusy = this.runs > 0
    this.chart.ariaBusy = String(isBusy)
    this.loading.textContent = isBusy ? loadingText(this.name, this.done, this.total) : ''
    element('activity').hidden = !isBusy && this.pause.hidden
  }
}
