import type { TextSyntax } from './text.js'

/** An array of rows, each an array: with all columns exactly the form of the service's window files. */
export const JSON_ROWS: TextSyntax = {
  head: () => '[',
  tail: ']',
  separatorBytes: 1,
  rowStart: ',[',
  rowEnd: ']',
  quote: '"',
  before: (_column, index) => (index === 0 ? '' : ','),
  escape: text => JSON.stringify(text),
}

/** JSON Lines: an object a row, with its keys in the order of the columns. */
export const JSON_LINES: TextSyntax = {
  head: () => '',
  tail: '',
  separatorBytes: 0,
  rowStart: '{',
  rowEnd: '}\n',
  quote: '"',
  before: (column, index) => `${index === 0 ? '' : ','}"${column}":`,
  escape: text => JSON.stringify(text),
}
