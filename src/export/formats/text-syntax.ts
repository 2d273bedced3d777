import type { TextSyntax } from './text.js'

/**
 * RFC 4180 with `\n` line ends and a header, byte for byte what csv-stringify writes for the same rows: a cell is quoted when
 * it has a comma, a quote or a line end.
 */
export const CSV: TextSyntax = {
  head: ({ columns }) => `${columns.join(',')}\n`,
  tail: '',
  separatorBytes: 0,
  rowStart: '',
  rowEnd: '\n',
  quote: '',
  before: (_column, index) => (index === 0 ? '' : ','),
  escape: text => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text),
}

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
