import type { SeriesLabel } from '../../candles/series.js'
import { plural } from '../../candles/text.js'
import { CHANGES_FILE } from '../../mirror/changes.js'
import type { ChangedCell } from '../../rows/diff.js'
import { candleName, describeCell } from '../terminal/text.js'
import { sumOf } from './fields.js'

/** Changed cells that the summary of a run shows. */
const MAX_SHOWN = 5

/** The cells of some series that a run changed: the first five, and where the others are. */
export function restatedLines(
  series: readonly (SeriesLabel & { readonly restated: number; readonly changes: readonly ChangedCell[] })[],
): string[] {
  const restated = sumOf(series, 'restated')
  if (restated === 0) return []
  const cells = series.flatMap(({ symbol, interval, changes }) => changes.map(cell => ({ symbol, interval, ...cell })))
  return [
    `${plural(restated, 'cached candle')} changed:`,
    ...cellLines(cells.slice(0, MAX_SHOWN)),
    ...(cells.length > MAX_SHOWN ? [`  and more; ${CHANGES_FILE} in the mirror has all of them.`] : []),
  ]
}

/** Changed cells below their candles. */
export function cellLines(cells: readonly (SeriesLabel & ChangedCell)[]): string[] {
  let latest = ''
  return cells.flatMap(cell => {
    const candle = candleName(cell)
    const heading = candle === latest ? [] : [`  ${candle}`]
    latest = candle
    return [...heading, `    ${describeCell(cell)}`]
  })
}
