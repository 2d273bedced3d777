import { randomUUID } from 'node:crypto'
import { columnType } from '../../export/row-format.js'
import { isLakeOptions, type LakeOptions } from '../options.js'
import type { TypeNames } from '../root/readme.js'
import { FOLDER_COLUMNS } from '../root/views.js'
import type { MetaDataAction } from './actions.js'

const SOURCE = 'klines.source'
const OPTIONS = 'klines.options'

/** The types of columns as a Delta schema names them. */
const DELTA: TypeNames = {
  time: 'timestamp',
  count: 'long',
  double: 'double',
  decimal: 'decimal(38,8)',
  text: 'string',
}
const FOLDER_TYPES: Readonly<Record<string, string>> = { varchar: 'string', integer: 'integer' }

/** What the log says about a lake: its columns and, so that the log alone is enough, its source and its options. */
export function describeTable(
  options: LakeOptions,
  source: string | null,
  old: MetaDataAction | undefined,
  now: number,
): MetaDataAction {
  const folders = Object.entries(FOLDER_COLUMNS[options.partition])
  const columns = [
    ...options.columns.map(name => [name, DELTA[columnType(name, options.numbers)]]),
    ...folders.map(([name, type]) => [name, FOLDER_TYPES[type]]),
  ]
  const fields = columns.map(([name, type]) => ({ name, type, nullable: false, metadata: {} }))
  const { [SOURCE]: _source, ...others } = old?.configuration ?? {}
  return {
    id: old?.id ?? randomUUID(),
    format: { provider: 'parquet', options: {} },
    schemaString: JSON.stringify({ type: 'struct', fields }),
    partitionColumns: folders.map(([name]) => name),
    configuration: {
      ...others,
      ...(source !== null && { [SOURCE]: source }),
      [OPTIONS]: JSON.stringify(options),
    },
    createdTime: old?.createdTime ?? now,
  }
}

/** Whether two descriptions say the same; the order of properties does not count. */
export function isSameTable(a: MetaDataAction, b: MetaDataAction): boolean {
  const parts = ({ schemaString, partitionColumns, configuration }: MetaDataAction) =>
    JSON.stringify([schemaString, partitionColumns, Object.entries(configuration).sort()])
  return parts(a) === parts(b)
}

/** The source and the options of a lake as its log has them; undefined for a table that klines did not write. */
export function parseTable({
  configuration,
}: MetaDataAction): { source: string | null; options: LakeOptions } | undefined {
  try {
    const options: unknown = JSON.parse(configuration[OPTIONS])
    if (!isLakeOptions(options) || options.table !== 'delta') return undefined
    return { source: configuration[SOURCE] ?? null, options }
  } catch {
    return undefined
  }
}
