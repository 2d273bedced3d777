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
