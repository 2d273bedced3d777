import { cutToColumns, textColumns } from '../../klines/text.js'
import type { ChartTitle } from '../title.js'
import { CellLine, type Ink } from './cells.js'

/** A text that a line may end after. */
interface Part {
  readonly text: string
  readonly ink: Ink
  /** Blanks before it, unless it starts a line. */
  readonly gap: number
}

/** The lines above a chart, none wider than `width`. */
export function titleLines(title: ChartTitle, width: number): CellLine[] {
  const { name, range, resampled, change, prices } = title
  const ink = change?.startsWith('-') ? 'falling' : 'rising'
  const head = [
    ...words(name, 'strong', 0),
    ...phrases(range, 2),
    ...(resampled === undefined ? [] : phrases(resampled, 2)),
    ...(change === undefined ? [] : words(change, ink, 2)),
  ]
  return [...wrap(head, width), ...wrap(phrases(prices, 0), width)]
}

/** A line may end after a comma. */
function phrases(text: string, gap: number): Part[] {
  return text.split(/(?<=,) /).map((text, index) => ({ text, ink: 'plain', gap: index === 0 ? gap : 1 }))
}

/** A line may end between words. */
function words(text: string, ink: Ink, gap: number): Part[] {
  return text.split(' ').map((text, index) => ({ text, ink, gap: index === 0 ? gap : 1 }))
}

/** Fills lines with parts. A part that is wider than a line is broken between its words, and a word that is, anywhere. */
function wrap(parts: readonly Part[], width: number): CellLine[] {
  const lines = [new CellLine()]
  const put = ({ text, ink, gap }: Part): void => {
    const line = lines[lines.length - 1]
    const start = line.length === 0 ? 0 : gap
    const columns = textColumns(text)
    if (line.length + start + columns <= width) {
      line.add(' '.repeat(start)).add(text, ink)
    } else if (line.length > 0 && columns <= width) {
      lines.push(new CellLine().add(text, ink))
    } else if (text.includes(' ')) {
      for (const word of words(text, ink, gap)) put(word)
    } else {
      for (let rest = text; rest !== ''; ) {
        const part = cutToColumns(rest, Math.max(2, width))
        lines.push(new CellLine().add(part, ink))
        rest = rest.slice(part.length)
      }
    }
  }
  for (const part of parts) put(part)
  return lines.filter(line => line.length > 0)
}
