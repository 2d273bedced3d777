import type { Exporter } from './exporter.js'
import { type TextSyntax, textRows } from './text.js'

/**
 * RFC 4180 with `\n` line ends and a header, byte for byte what csv-stringify writes for the same rows: a cell is quoted
 * when it holds a comma, a quote or a line end.
 */
const CSV: TextSyntax = {
  head: ({ columns }) => `${columns.join(',')}\n`,
  tail: '',
  skipAtFirst: 0,
  rowStart: '',
  rowEnd: '\n',
  quote: '',
  before: (_column, index) => (index === 0 ? '' : ','),
  escape: text => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text),
}

export const csv: Exporter = (batches, shape) => textRows(batches, shape, CSV)
