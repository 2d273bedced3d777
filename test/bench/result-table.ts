import type { Result } from './rounds.js'

const HEAD = ['', 'klines', 'beside', 'its', 'ratio', 'target', '']
/** Text left, figures right. */
const LEFT = [0, 2, 5, 6]

/** The rows as a Markdown table whose columns line up, so that it reads as well in a terminal. */
export function resultTable(results: readonly Result[]): string {
  const lines = [HEAD, ...results.flatMap(linesOf)]
  const widths = HEAD.map((_, column) => Math.max(3, ...lines.map(line => line[column].length)))
  const text = lines.map(line => `| ${line.map((cell, column) => pad(cell, column, widths[column])).join(' | ')} |`)
  const rule = widths.map((width, column) => (LEFT.includes(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [text[0], `| ${rule.join(' | ')} |`, ...text.slice(1)].join('\n')
}

/** A line for each peer and bound; the title and our figure stand in the first alone. */
function linesOf({ section, title, unit, contenders: [ours], comparisons }: Result): string[][] {
  return comparisons.map(({ peer, theirs, ratio, target, met }, index) => [
    index === 0 ? `${section}. ${title}` : '',
    index === 0 ? figure(ours.median, unit) : '',
    peer ?? '',
    theirs === undefined ? '' : figure(theirs, unit),
    ratio === undefined ? '' : ratio.toFixed(2),
    target ?? '',
    met === undefined ? '' : met ? 'met' : 'not met',
  ])
}

function figure(value: number, unit: string): string {
  return `${Math.round(value).toLocaleString('en')} ${unit}`
}

function pad(cell: string, column: number, width: number): string {
  return LEFT.includes(column) ? cell.padEnd(width) : cell.padStart(width)
}
