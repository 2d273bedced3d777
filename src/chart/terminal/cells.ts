import { characterColumns } from '../../candles/text.js'

/** How a cell looks. */
export type Ink = 'plain' | 'strong' | 'faint' | 'rising' | 'falling'

/** ANSI codes that turn an ink on and off. */
const CODES: Record<Exclude<Ink, 'plain'>, readonly [number, number]> = {
  strong: [1, 22],
  faint: [2, 22],
  rising: [32, 39],
  falling: [31, 39],
}

/** A line of text in which each character has an ink. */
export class CellLine {
  private readonly characters: string[] = []
  private readonly inks: Ink[] = []
  private columns = 0

  /** Columns of the terminal. */
  get length(): number {
    return this.columns
  }

  /** Adds text at the end. */
  add(text: string, ink: Ink = 'plain'): this {
    for (const character of text) {
      this.characters.push(character)
      this.inks.push(ink)
      this.columns += characterColumns(character)
    }
    return this
  }

  /** Fills up with blanks to so many columns. */
  padTo(columns: number): this {
    return this.add(' '.repeat(Math.max(0, columns - this.length)))
  }

  /** Without the blanks at its end; with ANSI codes if it is coloured. */
  toString(colour: boolean): string {
    const { characters, inks } = this
    let end = characters.length
    while (end > 0 && characters[end - 1] === ' ') end--
    let text = ''
    for (let start = 0; start < end; ) {
      let next = start + 1
      // A blank has no colour of its own, so a run goes on over it.
      while (next < end && (inks[next] === inks[start] || characters[next] === ' ')) next++
      const ink = inks[start]
      const run = characters.slice(start, next).join('')
      text += colour && ink !== 'plain' ? paint(run, ink) : run
      start = next
    }
    return text
  }
}

function paint(text: string, ink: Exclude<Ink, 'plain'>): string {
  const [on, off] = CODES[ink]
  return `\x1b[${on}m${text}\x1b[${off}m`
}
