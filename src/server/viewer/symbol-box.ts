import { nearest } from '../../candles/suggest.js'
import { type SymbolName, toSymbolName } from '../../candles/symbols.js'
import { create, element } from './elements.js'

/** The symbols that a text may stand for, the likeliest first; all of them for an empty text. */
export function findSymbols(text: string, symbols: readonly SymbolName[]): SymbolName[] {
  const name = toSymbolName(text)
  const rank = (symbol: string) => (symbol === name ? 0 : symbol.startsWith(name) ? 1 : 2)
  const found = symbols.filter(symbol => symbol.includes(name)).sort((a, b) => rank(a) - rank(b))
  return found.length > 0 ? found : [nearest(name, symbols) ?? []].flat()
}

/** The input of a symbol, with the browser's own list of those that match. */
export class SymbolBox {
  private readonly input = element<HTMLInputElement>('symbol')
  private symbols: readonly SymbolName[] = []

  constructor(choose: (symbol: SymbolName) => void) {
    const { input } = this
    // For an empty input the browser lists all symbols.
    input.addEventListener('focus', () => {
      input.value = ''
    })
    input.addEventListener('blur', () => {
      input.value = input.placeholder
    })
    input.addEventListener('change', () => {
      const name = toSymbolName(input.value)
      const [symbol = name] = findSymbols(name, this.symbols)
      input.blur()
      if (name !== '' && symbol !== input.placeholder) choose(symbol)
    })
  }

  show(symbol: SymbolName): void {
    const { input } = this
    input.placeholder = symbol
    if (document.activeElement !== input) input.value = symbol
  }

  setSymbols(symbols: readonly SymbolName[]): void {
    this.symbols = symbols
    element('symbols').replaceChildren(...symbols.map(value => create('option', '', { value })))
  }
}
