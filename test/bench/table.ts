import type { Result } from './row.js'

/** Above this ratio, a row is said to be worse than that of an earlier build. */
const WORSE = 1.1

/** A Markdown table: klines beside its peers, and the goals. */
export function peerTable(results: readonly Result[]): string {
  const head = ['', 'klines', 'CPU', 'memory', 'beside', 'its', 'ratio', 'goal', '']
  return table(head, results.flatMap(peerLines), [0, 4, 7, 8])
}

/** A line for each peer and each goal of klines alone; only the first has the title and klines' figures. */
function peerLines({ row, contenders: [{ usage }, ...peers] }: Result): string[][] {
  const { title, figure = 'ms', limits = {} } = row
  const beside = peers.map(({ name, most, usage: its }) => {
    const ratio = usage[figure] / its[figure]
    return [name, amount(its[figure], figure), ratio.toFixed(2), ...goal(ratio, most, '')]
  })
  const alone = (['ms', 'mb'] as const).flatMap(unit => {
    return limits[unit] === undefined ? [] : [['', '', '', ...goal(usage[unit], limits[unit], unit)]]
  })
  const lines = [...beside, ...alone]
  const ours = [title, amount(usage.ms, 'ms'), amount(usage.cpuMs, 'ms'), amount(usage.mb, 'mb')]
  return (lines.length > 0 ? lines : [['', '', '', '', '']]).map((line, index) => [
    ...(index === 0 ? ours : ['', '', '', '']),
    ...line,
  ])
}

/** A Markdown table: a build beside an earlier one. */
export function buildTable(results: readonly Result[]): string {
  const head = ['', 'time', 'earlier', 'ratio', 'CPU', 'earlier', 'ratio', 'memory', 'earlier', 'ratio', 'goal', '']
  return table(head, results.map(buildLine), [0, 10, 11])
}

function buildLine({ row, contenders: [{ usage }, { usage: earlier }] }: Result): string[] {
  const pairs = (['ms', 'cpuMs', 'mb'] as const).flatMap(figure => {
    const ratio = (usage[figure] / earlier[figure]).toFixed(2)
    return [amount(usage[figure], figure), amount(earlier[figure], figure), ratio]
  })
  const cpu = usage.cpuMs / earlier.cpuMs
  const isWorse = Math.max(cpu, usage.mb / earlier.mb) > WORSE
  const [text, verdict] = goal(cpu, row.mostOfEarlier, 'CPU')
  return [row.title, ...pairs, text, isWorse ? 'WORSE' : verdict]
}

/** A goal and whether it is met; empty without one. */
function goal(value: number, most: number | undefined, unit: string): [string, string] {
  if (most === undefined) return ['', '']
  return [`≤ ${most} ${unit === 'mb' ? 'MB' : unit}`.trimEnd(), value <= most ? 'met' : 'not met']
}

/** A figure for people. */
function amount(value: number, figure: 'ms' | 'cpuMs' | 'mb'): string {
  return Number.isNaN(value) ? '' : `${Math.round(value).toLocaleString('en')} ${figure === 'mb' ? 'MB' : 'ms'}`
}

/** A Markdown table with aligned columns, which is readable in a terminal too: texts to the left, figures to the right. */
export function table(head: readonly string[], lines: readonly string[][], textColumns: readonly number[]): string {
  const rows = [head, ...lines]
  const widths = head.map((_, column) => Math.max(3, ...rows.map(row => row[column].length)))
  const isText = (column: number) => textColumns.includes(column)
  const rule = widths.map((width, column) => (isText(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const pad = (cell: string, column: number) =>
    isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
  const text = rows.map(row => `| ${row.map(pad).join(' | ')} |`)
  return [text[0], `| ${rule.join(' | ')} |`, ...text.slice(1)].join('\n')
}
