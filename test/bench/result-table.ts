import type { Result } from './rounds.js'

const HEAD = ['', 'klines', 'beside', 'its', 'ratio', 'target', '']
/** Columns of text, which are aligned left; figures are aligned right. */
const TEXT_COLUMNS = [0, 2, 5, 6]

/** Formats results as a Markdown table with aligned columns, which is readable in a terminal too. */
export function resultTable(results: readonly Result[]): string {
  const lines = [HEAD, ...results.flatMap(toLines)]
  const widths = HEAD.map((_, column) => Math.max(3, ...lines.map(line => line[column].length)))
  const text = lines.map(line => `| ${line.map((cell, column) => pad(cell, column, widths[column])).join(' | ')} |`)
  const rule = widths.map((width, column) =>
    TEXT_COLUMNS.includes(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [text[0], `| ${rule.join(' | ')} |`, ...text.slice(1)].join('\n')
}

/** A line for each peer and bound; only the first has the title and klines' figure. */
function toLines({ section, title, unit, contenders: [ours], comparisons }: Result): string[][] {
  return comparisons.map(({ peer, theirs, ratio, spread, target, met }, index) => [
    index === 0 ? `${section}. ${title}` : '',
    index === 0 ? formatFigure(ours.median, unit) : '',
    peer ?? '',
    theirs === undefined ? '' : formatFigure(theirs, unit),
    [ratio?.toFixed(2), spread && `(${spread.map(value => value.toFixed(2)).join(' to ')})`].filter(Boolean).join(' '),
    target ?? '',
    met === undefined ? '' : met ? 'met' : 'not met',
  ])
}

function formatFigure(value: number, unit: string): string {
  return `${Math.round(value).toLocaleString('en')} ${unit}`
}

function pad(cell: string, column: number, width: number): string {
  return TEXT_COLUMNS.includes(column) ? cell.padEnd(width) : cell.padStart(width)
}
