import { type ColumnType, columnType } from '../export/row-format.js'
import type { LakeOptions } from './options.js'

/** The names of types in one engine. */
export type TypeNames = Readonly<Record<ColumnType, string>>

/** The columns of a lake's files with their types: `open_time timestamp, open double`. `quote` surrounds a name. */
export function describeColumns({ columns, numbers }: LakeOptions, types: TypeNames, quote = ''): string {
  return columns.map(name => `${quote}${name}${quote} ${types[columnType(name, numbers)]}`).join(', ')
}
