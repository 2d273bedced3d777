import { element } from '../element.js'

const KEY = 'klines-theme'
const CHOICES = ['system', 'light', 'dark'] as const
type Choice = (typeof CHOICES)[number]

/** The button that overrides the theme of the system; the choice is remembered. */
export class ThemeButton {
  private readonly button = element<HTMLButtonElement>('theme')
  private choice: Choice = readChoice()

  constructor() {
    this.apply()
    this.button.addEventListener('click', () => {
      this.choice = CHOICES[(CHOICES.indexOf(this.choice) + 1) % CHOICES.length]
      store(this.choice)
      this.apply()
    })
  }

  /** Calls back when the colours of the page may have changed. */
  onChange(callback: () => void): void {
    this.button.addEventListener('click', callback)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', callback)
  }

  private apply(): void {
    if (this.choice === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = this.choice
    this.button.dataset.choice = this.choice
    this.button.title = `Theme: ${this.choice}`
    this.button.setAttribute('aria-label', this.button.title)
  }
}

/** A browser may refuse its storage. */
function readChoice(): Choice {
  try {
    const stored = localStorage.getItem(KEY) as Choice
    return CHOICES.includes(stored) ? stored : 'system'
  } catch {
    return 'system'
  }
}

function store(choice: Choice): void {
  try {
    if (choice === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, choice)
  } catch {
    // Then the choice lasts as long as the page.
  }
}
