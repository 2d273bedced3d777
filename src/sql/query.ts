import { KlinesError } from '../klines/errors.js'
import type { Database } from './database.js'

/** A checked query: one statement that only reads. */
export interface Query {
  /** As it was given. */
  readonly sql: string
  readonly isExplain: boolean
  /** The arguments of each call of `candles`; undefined for one that is no literal text. */
  readonly calls: readonly (readonly (string | undefined)[])[]
  /** Whether it reads the view `klines` itself. */
  readonly readsAll: boolean
}

/** DuckDB's functions that run SQL given as text, write logs and profiles, or read raw memory. */
const REFUSED = /^(?:query|json_execute_serialized_sql|(?:enable|disable)_\w+|truncate_duckdb_logs|arrow_scan\w*)$/

/** `explain analyze` runs what follows, which may write. Comments may come before it. */
const EXPLAIN = /^(?:\s|--.*\n|\/\*[\s\S]*?\*\/)*explain\s+(?:analyze\s+|\([^()]*\)\s*)?/i

/** A node of the tree that DuckDB's `json_serialize_sql` makes of a query. */
type Tree = { readonly [name: string]: Tree } | readonly Tree[] | string | number | boolean | null

/**
 * Parses SQL with DuckDB's own parser, without running it. Throws `bad_query` for anything but one `select` (also `with`, `from`,
 * `values`, `describe`, `summarize`, `show`) or `explain` of one.
 */
export async function parseQuery(database: Database, sql: string): Promise<Query> {
  const isExplain = EXPLAIN.test(sql)
  const parsed = await serialize(database, sql.replace(EXPLAIN, ''))
  if (parsed.error_type === 'parser') await reportSyntax(database, sql)
  if (parsed.error) throw refuse('klines sql only reads')
  const { statements = [] } = parsed
  if (statements.length !== 1) throw refuse(`The SQL has ${statements.length} statements`)
  const names = { calls: [] as (string | undefined)[][], tables: new Set<string>(), aliases: new Set<string>() }
  visit(statements[0], names)
  const { calls, tables, aliases } = names
  return { sql, isExplain, calls, readsAll: tables.has('klines') && !aliases.has('klines') }
}

interface Serialized {
  readonly error: boolean
  readonly error_type?: string
  readonly statements?: readonly Tree[]
}

async function serialize(database: Database, sql: string): Promise<Serialized> {
  const reader = await database.guard(() =>
    database.connection.runAndReadAll('select json_serialize_sql($1::varchar)', [sql]),
  )
  return JSON.parse(String(reader.getRows()[0][0]))
}

/** Throws DuckDB's own message, which shows the line. Preparing runs nothing. */
async function reportSyntax(database: Database, sql: string): Promise<void> {
  await database.guard(() => database.connection.prepare(sql))
}

function refuse(reason: string): KlinesError {
  return new KlinesError('bad_query', `${reason}. Expected one select statement, or explain and a select.`, {
    suggestions: ['-o FILE writes its result.'],
  })
}

/** Collects what a query calls and reads. Throws `bad_query` for a function that is refused. */
function visit(
  tree: Tree,
  names: { calls: (string | undefined)[][]; tables: Set<string>; aliases: Set<string> },
): void {
  if (typeof tree !== 'object' || tree === null) return
  if (Array.isArray(tree)) {
    for (const node of tree) visit(node, names)
    return
  }
  const node = tree as { readonly [name: string]: Tree }
  if (typeof node.function_name === 'string') {
    const name = node.function_name.toLowerCase()
    if (REFUSED.test(name)) throw new KlinesError('bad_query', `klines sql does not run the function ${name}.`)
    if (name === 'candles' && Array.isArray(node.children)) names.calls.push(node.children.map(literalText))
  }
  if (typeof node.table_name === 'string') names.tables.add(node.table_name.toLowerCase())
  if (node.type === 'SHOW_REF' && typeof node.table_name === 'string')
    names.tables.add(node.table_name.replaceAll('"', ''))
  if (node.cte_map) {
    const { map } = node.cte_map as { readonly map: readonly { readonly key: string }[] }
    for (const { key } of map) names.aliases.add(key.toLowerCase())
  }
  for (const child of Object.values(node)) visit(child, names)
}

function literalText(tree: Tree): string | undefined {
  const { value } = tree as { readonly value?: { readonly value?: Tree } }
  return typeof value?.value === 'string' ? value.value : undefined
}
