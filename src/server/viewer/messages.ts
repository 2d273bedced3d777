import type { Absence } from './absence.js'
import { create, element } from './elements.js'

/** What is wrong and what people can do; whether something is loaded. */
export class Messages {
  private readonly message = element('message')
  private readonly choices = element('message-choices')
  private readonly retry = element('retry')
  private onRetry: (() => void) | undefined
  /** How many loads are under way. */
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

  async during(work: Promise<void>): Promise<void> {
    this.runs++
    this.showLoading()
    try {
      await work
    } finally {
      this.runs--
      this.showLoading()
    }
  }

  /** What loads fast is not seen: the style sheet shows it a moment later. */
  private showLoading(): void {
    const isBusy = this.runs > 0
    this.chart.ariaBusy = String(isBusy)
    element('activity-text').textContent = isBusy ? 'Loading candles' : ''
    element('activity').hidden = !isBusy
  }
}
