import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { duckdb } from './duckdb.js'

/** A file of a version as an `add` action of the log has it. */
export interface LiveFile {
  readonly path: string
  readonly size: number
  readonly partitionValues: Readonly<Record<string, string>>
  readonly stats?: string
}

/** A version of a Delta table. */
export interface ReplayedVersion {
  readonly version: number
  readonly protocol: { readonly minReaderVersion: number; readonly minWriterVersion: number }
  readonly metaData: { readonly id: string; readonly schemaString: string; readonly partitionColumns: string[] }
  readonly files: readonly LiveFile[]
}

/** The action of each row, as JSON that the entries of the log have too. */
const ACTIONS = `to_json(struct_pack(protocol, metaData, add, remove))::varchar as line`

/**
 * Replays the log of a Delta table as its protocol says, without any code of klines: from the newest checkpoint that is not newer than
 * the wanted version (default: the newest one), then entry by entry. Throws when an entry is missing.
 */
export async function replayLog(table: string, wanted = Infinity): Promise<ReplayedVersion> {
  const log = join(table, '_delta_log')
  const find = (pattern: RegExp) =>
    readdirSync(log).flatMap(name => (pattern.test(name) ? [Number(name.slice(0, 20))] : []))
  const newest = Math.max(...find(/^\d{20}\.(json|checkpoint\.parquet)$/))
  const version = Math.min(wanted, newest)
  const checkpoint = Math.max(-1, ...find(/^\d{20}\.checkpoint\.parquet$/).filter(other => other <= version))
  const lines = checkpoint === -1 ? [] : await readCheckpoint(join(log, `${digits(checkpoint)}.checkpoint.parquet`))
  for (let entry = checkpoint + 1; entry <= version; entry++)
    lines.push(...readFileSync(join(log, `${digits(entry)}.json`), 'utf8').split('\n'))
  const files = new Map<string, LiveFile>()
  let state: Pick<ReplayedVersion, 'protocol' | 'metaData'> | undefined
  for (const line of lines.filter(text => text !== '')) {
    const { protocol, metaData, add, remove } = JSON.parse(line)
    state = { ...state, ...(protocol && { protocol }), ...(metaData && { metaData }) } as typeof state
    if (add) files.set(add.path, add)
    if (remove) files.delete(remove.path)
  }
  if (!state?.protocol || !state.metaData) throw new Error(`version ${version} has no protocol or no metaData`)
  return { version, ...state, files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)) }
}

/** The rows of one SQL select over the files of a version, which are `candles`; each must be there with its size. */
export async function queryVersion(table: string, select: string, wanted?: number): Promise<Record<string, unknown>[]> {
  // The protocol: "a relative path to a data file (...) a URI as specified by RFC 2396", which has to be decoded.
  const files = (await replayLog(table, wanted)).files.map(file => ({ ...file, path: decodeURIComponent(file.path) }))
  for (const { path, size } of files)
    if (!existsSync(join(table, path)) || readFileSync(join(table, path)).length !== size)
      throw new Error(`${path} is not there`)
  const list = files.map(({ path }) => `'${join(table, path)}'`).join(', ')
  const types = `{ symbol: varchar, "interval": varchar }`
  const read = `read_parquet([${list}], hive_partitioning = true, hive_types = ${types})`
  return (await duckdb(`with candles as (from ${read}) ${select}`)).rows
}

async function readCheckpoint(path: string): Promise<string[]> {
  const { rows } = await duckdb(`select ${ACTIONS} from '${path}'`)
  return rows.map(({ line }) => String(line))
}

function digits(version: number): string {
  return String(version).padStart(20, '0')
}
