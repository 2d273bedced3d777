import type { Exporter } from './exporter.js'
import { type TextSyntax, textRows } from './text.js'

/** The array of rows, each an array: with all columns exactly the form of a window file (service.md). */
const JSON_ROWS: TextSyntax = {
  head: () => '[',
  tail: ']',
  skipAtFirst: 1,
  rowStart: ',[',
  rowEnd: ']',
  quote: '"',
  before: (_column, index) => (index === 0 ? '' : ','),
  escape: text => JSON.stringify(text),
}

/** JSON Lines: an object a row, keys in the order of the columns. */
const JSON_LINES: TextSyntax = {
  head: () => '',
  tail: '',
  skipAtFirst: 0,
  rowStart: '{',
  rowEnd: '}\n',
  quote: '"',
  before: (column, index) => `${index === 0 ? '' : ','}"${column}":`,
  escape: text => JSON.stringify(text),
}

export const json: Exporter = (batches, shape) => textRows(batches, shape, JSON_ROWS)
export const jsonl: Exporter = (batches, shape) => textRows(batches, shape, JSON_LINES)
