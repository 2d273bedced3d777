import { plural } from '../../candles/text.js'
import type { Absence } from './absence.js'
import { create, element } from './elements.js'

/** What is wrong and what people can do; what is loaded and how far that is. */
export class Messages {
  private readonly message = element('message')
  private readonly choices = element('message-choices')
  private readonly retry = element('retry')
  private onRetry: (() => void) | undefined
  /** What is loaded, how many of its windows have come, and how many loads are under way. */
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
  }

  /** `retry`: what a button does that says so. */
  show(text: string, { retry, choices = [] }: { retry?: () => void; choices?: Absence['choices'] } = {}): void {
    this.onRetry = retry
    this.retry.hidden = retry === undefined
    const items = choices.map(({ text, href }) => create('li', create('a', text, { href })))
    this.choices.replaceChildren(...items)
    this.choices.hidden = choices.length === 0
    this.message.hidden = false
    element('message-text').textContent = text
  }

  hide(): void {
    this.message.hidden = true
    this.onRetry = undefined
  }

  /** Counts windows that are requested, and those that have come. */
  count({ total = 0, done = 0 }: { total?: number; done?: number }): void {
    if (this.runs === 0) return
    this.total += total
    this.done += done
    this.showLoading()
  }

  async during(work: Promise<void>): Promise<void> {
    this.runs++
    this.showLoading()
    try {
      await work
    } finally {
      this.runs--
      if (this.runs === 0) [this.done, this.total] = [0, 0]
      this.showLoading()
    }
  }

  /** `Loading SOLUSDT 4h, 1 of 3 windows`. What loads fast is not seen: the style sheet shows it a moment later. */
  private showLoading(): void {
    const isBusy = this.runs > 0
    const progress = this.total > 0 ? `, ${this.done} of ${plural(this.total, 'window')}` : ''
    this.chart.ariaBusy = String(isBusy)
    element('activity-text').textContent = isBusy ? `Loading ${this.name}${progress}` : ''
    element('activity').hidden = !isBusy
  }
}
