import { suggest } from '../../candles/suggest.js'
import { type SymbolName, toSymbolName } from '../../candles/symbols.js'
import { create, element } from './elements.js'

/** More names than these are found by typing more of one. */
const MAX_OPTIONS = 100

/** The symbols that a text may stand for, the likeliest first; all of them for an empty text. */
export function findSymbols(text: string, symbols: readonly SymbolName[]): SymbolName[] {
  const name = toSymbolName(text)
  if (name === '') return [...symbols]
  const rank = (symbol: string) => (symbol === name ? 0 : symbol.startsWith(name) ? 1 : 2)
  const found = symbols.filter(symbol => symbol.includes(name)).sort((a, b) => rank(a) - rank(b))
  return found.length > 0 ? found : [suggest(name, symbols) ?? []].flat()
}

/** The input of a symbol with a list: the ARIA pattern of a combobox. */
export class SymbolBox {
  private readonly input = element<HTMLInputElement>('symbol')
  private readonly list = element('symbols')
  private symbols: readonly SymbolName[] = []
  private absent: ReadonlySet<SymbolName> = new Set()
  private current = ''
  /** What the list offers, and the one that Enter chooses; -1 for none. */
  private offered: readonly SymbolName[] = []
  private active = -1

  constructor(private readonly choose: (symbol: SymbolName) => void) {
    const { input } = this
    input.addEventListener('focus', () => input.select())
    input.addEventListener('click', () => this.offer(''))
    input.addEventListener('input', () => this.offer(input.value))
    input.addEventListener('blur', () => {
      this.close()
      input.value = this.current
    })
    input.addEventListener('keydown', event => this.press(event))
    // The input keeps the focus.
    this.list.addEventListener('pointerdown', event => event.preventDefault())
  }

  show(symbol: SymbolName): void {
    this.current = symbol
    if (document.activeElement !== this.input) this.input.value = symbol
  }

  /** `absent`: those without candles here. */
  setSymbols(symbols: readonly SymbolName[], absent: ReadonlySet<SymbolName>): void {
    ;[this.symbols, this.absent] = [symbols, absent]
    this.list.dataset.count = String(symbols.length)
    if (!this.list.hidden) this.offer(this.input.value)
  }

  private press(event: KeyboardEvent): void {
    const { key } = event
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault()
      if (this.list.hidden) this.offer('')
      this.activate(this.active + (key === 'ArrowDown' ? 1 : -1))
    } else if (key === 'Enter') this.take(this.offered[this.active] ?? toSymbolName(this.input.value))
    else if (key === 'Escape' && !this.list.hidden) this.close()
    else if (key === 'Escape') this.input.blur()
  }

  private take(symbol: SymbolName): void {
    if (symbol === '') return
    if (symbol !== this.current) this.choose(symbol)
    this.input.blur()
  }

  /** Lists what a text may stand for; the likeliest is chosen by Enter. */
  private offer(text: string): void {
    this.offered = findSymbols(text, this.symbols).slice(0, MAX_OPTIONS)
    const options = this.offered.map((symbol, index) => {
      const option = create('li', symbol, { id: `symbol-${index}`, role: 'option' })
      if (this.absent.has(symbol)) option.append(create('small', 'not in this mirror'))
      option.addEventListener('click', () => this.take(symbol))
      return option
    })
    this.list.replaceChildren(...options)
    this.list.hidden = options.length === 0
    this.input.ariaExpanded = String(!this.list.hidden)
    this.active = -1
    if (toSymbolName(text) !== '') this.activate(0)
  }

  private activate(index: number): void {
    const { length } = this.offered
    if (length === 0) return
    this.active = (Math.max(index, -1) + length) % length
    const options = [...this.list.children]
    for (const [place, option] of options.entries()) option.ariaSelected = String(place === this.active)
    options[this.active].scrollIntoView({ block: 'nearest' })
    this.input.setAttribute('aria-activedescendant', `symbol-${this.active}`)
  }

  private close(): void {
    ;[this.offered, this.active] = [[], -1]
    this.list.hidden = true
    this.input.ariaExpanded = 'false'
    this.input.removeAttribute('aria-activedescendant')
  }
}
