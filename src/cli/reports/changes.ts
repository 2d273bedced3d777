import type { ChangedCell } from '../../klines/batch/diff.js'
import type { SeriesLabel } from '../../klines/series.js'
import { formatCount, formatTime, plural } from '../../klines/text.js'
import { CHANGES_FILE, type RecordedChange } from '../../mirror/changes.js'
import { candleName, printable } from '../terminal/text.js'
import { type Report, sum } from './report.js'
import type { MirrorChangesObject } from './schema.js'

/** Changed cells that the summary of a run shows. */
const MAX_SHOWN = 5

/** The cells of some series that a run changed: the first five, and where the others are. */
export function restatedLines(
  series: readonly (SeriesLabel & { readonly restated: number; readonly changes: readonly ChangedCell[] })[],
): string[] {
  const restated = sum(series.map(one => one.restated))
  if (restated === 0) return []
  const cells = series.flatMap(({ symbol, interval, changes }) => changes.map(cell => ({ symbol, interval, ...cell })))
  return [
    `${plural(restated, 'cached candle')} changed:`,
    ...cellLines(cells.slice(0, MAX_SHOWN)),
    ...(cells.length > MAX_SHOWN ? ['  and more; klines mirror changes lists all of them, also later.'] : []),
  ]
}

/** Changed cells below their candles. */
export function cellLines(cells: readonly (SeriesLabel & ChangedCell)[]): string[] {
  return belowCandles(cells, candleName).map(line => `  ${line}`)
}

/** The name of each candle, and below it those of the cells that follow each other. */
function belowCandles<Cell extends ShownCell>(cells: readonly Cell[], nameCandle: (cell: Cell) => string): string[] {
  let latest = ''
  return cells.flatMap(cell => {
    const candle = nameCandle(cell)
    const heading = candle === latest ? [] : [candle]
    latest = candle
    return [...heading, `  ${describeCell(cell)}`]
  })
}

/** The column of a candle, and its texts before and after a change. */
type ShownCell = Pick<RecordedChange, 'column' | 'before' | 'after'>

/** `close 12345.00000000 -> 68200.00000000` */
export function describeCell({ column, before, after }: ShownCell): string {
  if (before === null) return 'was not there'
  return `${column} ${printable(before)} -> ${printable(after)}`
}

/** What `mirror changes` shows. */
interface FoundChanges {
  readonly changes: readonly RecordedChange[]
  /** Changed cells that were not selected. */
  readonly others: number
  /** Lines of the file that are no changes. */
  readonly unreadable: number
}

/** `mirror changes`: each changed candle with its cells, the newest change last. */
export function mirrorChangesReport(mirror: string, found: FoundChanges): Report<MirrorChangesObject> {
  const { changes, unreadable } = found
  return { json: { mirror, changes, unreadable }, text: () => changesText(mirror, found) }
}

function changesText(mirror: string, { changes, others, unreadable }: FoundChanges): string {
  const lines = belowCandles(changes, change => `${candleName(change)}, seen ${formatTime(change.time)} UTC`)
  const candles = lines.length - changes.length
  if (changes.length === 0) lines.push(`No changed candle ${others > 0 ? 'of the selection ' : ''}is recorded.`)
  else lines.push('', `${plural(changes.length, 'changed cell')} of ${plural(candles, 'candle')}, the newest last.`)
  if (others > 0) lines.push(`${plural(others, 'other changed cell')} not selected.`)
  if (unreadable > 0) {
    const [are, change] = unreadable === 1 ? ['line is', 'change'] : ['lines are', 'changes']
    lines.push(`${formatCount(unreadable)} ${are} no ${change} of a candle, and left out: ${CHANGES_FILE}`)
  }
  return [...lines, `Mirror: ${mirror}`].join('\n')
}
