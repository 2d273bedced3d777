import { isSeriesColumn } from '../export/row-format.js'
import { COLUMN_KINDS, COLUMNS } from '../klines/columns.js'
import type { OutputColumn } from '../options/output-options.js'
import type { LakeOptions } from './options.js'

/** The names of types in one engine. */
export interface TypeNames {
  readonly time: string
  readonly integer: string
  readonly double: string
  readonly decimal: string
  readonly text: string
}

/** The columns of a lake's files with their types: `open_time timestamp, open double`. `quote` surrounds a name. */
export function describeColumns({ columns, numbers }: LakeOptions, types: TypeNames, quote = ''): string {
  return columns.map(name => `${quote}${name}${quote} ${findType(name, numbers, types)}`).join(', ')
}

/** The type of a column of a lake's files. */
export function findType(name: OutputColumn, numbers: LakeOptions['numbers'], types: TypeNames): string {
  const kind = isSeriesColumn(name) ? 'text' : COLUMN_KINDS[COLUMNS.indexOf(name)]
  if (kind === 'time') return types.time
  if (kind === 'count') return types.integer
  return kind === 'text' ? types.text : types[numbers]
}
