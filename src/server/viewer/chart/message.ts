import type { ChoiceLink } from './choice.js'
import { create, element } from './element.js'

/** Tells people what is wrong and what they can do. */
export class Message {
  private readonly root = element('message')
  private readonly text = element('message-text')
  private readonly choices = element('message-choices')
  private readonly retry = element<HTMLButtonElement>('retry')
  private onRetry: (() => void) | undefined

  constructor() {
    element('close').addEventListener('click', () => this.hide())
    this.retry.addEventListener('click', () => {
      const { onRetry } = this
      this.hide()
      onRetry?.()
    })
  }

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
    this.root.hidden = false
    this.text.textContent = text
  }

  hide(): void {
    this.root.hidden = true
    this.onRetry = undefined
  }
}
