import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { warningsTo } from '../../download/events.js'
import { commitOutputs } from '../../export/output/commit.js'
import { openOutput } from '../../export/output/open.js'
import type { Output } from '../../export/output/output.js'
import { checkOutputs } from '../../export/output-spec.js'
import { KlinesError } from '../../klines/errors.js'
import { Database, type LakeFiles, makeTempFolder } from '../../sql/database.js'
import { exportParts, lakeParts } from '../../sql/parts.js'
import { parseQuery, type Query } from '../../sql/query.js'
import { type ResultFile, resolveResultFormat, type TextFormat, writeParquet, writeText } from '../../sql/result.js'
import type { RunContext } from '../base-command.js'
import type { SqlFlags } from '../flags/sql.js'
import type { Report } from '../reports/report.js'
import type { SqlObject } from '../reports/schema.js'
import { printTable, sqlReport } from '../reports/sql.js'
import { resolveRange } from '../resolve-flags.js'
import { offlineAddress } from '../service-address.js'

/** A result's format and path, `-` for stdout. */
interface ResultTarget extends ResultFile {
  readonly path: string
}

/**
 * `sql`: runs one query over a lake or over series of the mirror, and writes its result. Returns the report of a file; undefined when
 * the result went to stdout.
 */
export async function runSql(
  text: string | undefined,
  given: SqlFlags,
  context: RunContext,
): Promise<Report<SqlObject> | undefined> {
  const flags = chooseSource(given, context.given)
  const target = resolveTarget(flags)
  const { signal } = context
  if (target.path !== '-') await checkOutputs([target], flags)
  const database = await Database.open({ threads: flags.threads, signal })
  let folder: string | undefined
  // For the series of a mirror, and for a result that DuckDB itself writes.
  const tempFolder = () => {
    folder ??= makeTempFolder()
    return folder
  }
  try {
    const query = await parseQuery(database, await readSql(text, signal))
    const result = target.format === 'parquet' ? join(tempFolder(), 'result.parquet') : undefined
    await database.lock({ ...(await findParts(query, tempFolder, flags, context)), result })
    if (target.format === 'table') {
      await printTable(database, query)
      return undefined
    }
    return await writeResult(target, flags, context, open => {
      return result === undefined
        ? writeText(database, query, target.format as TextFormat, open)
        : writeParquet(database, query, result, open)
    })
  } finally {
    database.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** Of --lake and the flags of a mirror, one on the command line wins over a default of the other. Throws `bad_option`. */
function chooseSource(flags: SqlFlags, given: ReadonlySet<string>): SqlFlags {
  const ofMirror = ['mirror', 'base-url', 'from', 'to', 'last'].find(name => given.has(name))
  if (ofMirror === undefined || flags.lake === undefined) return { ...flags, ...resolveRange(flags, given) }
  if (!given.has('lake')) return { ...flags, lake: undefined, ...resolveRange(flags, given) }
  throw new KlinesError('bad_option', `--lake and --${ofMirror} do not go together: a lake has candles of its own.`)
}

function resolveTarget({ output, format, json }: SqlFlags): ResultTarget {
  const path = output ?? '-'
  if (path !== '-') {
    const file = resolveResultFormat(path, format)
    if (file.format !== 'table') return { path, ...file }
    throw new KlinesError('bad_output', 'A table is for stdout. Expected -f csv, json, jsonl or parquet for a file.')
  }
  if (json) {
    const message = '--json prints an object on stdout, where the result goes. Expected one of them.'
    throw new KlinesError('bad_option', message, { suggestions: ['-f json prints the result as JSON.'] })
  }
  if (format === 'parquet' && process.stdout.isTTY) {
    const suggestions = ['Write it to a file with -o FILE, or pipe it on.']
    throw new KlinesError('bad_output', 'parquet is binary, and stdout is a terminal.', { suggestions })
  }
  return { path, format: format ?? (process.stdout.isTTY ? 'table' : 'json'), gzip: false }
}

async function readSql(text: string | undefined, signal: AbortSignal): Promise<string> {
  if (text === undefined && process.stdin.isTTY) {
    const suggestions = [`Example: klines sql "select * from candles('BTCUSDT', '1d') limit 5"`]
    throw new KlinesError('bad_query', 'Missing SQL. Expected an argument, or SQL on stdin.', { suggestions })
  }
  const sql = text === undefined || text === '-' ? await readStdin(signal) : text
  if (sql.trim() === '') throw new KlinesError('bad_query', 'The SQL is empty. Expected a select statement.')
  return sql
}

async function readStdin(signal: AbortSignal): Promise<string> {
  try {
    return await readText(addAbortSignal(signal, process.stdin))
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

async function findParts(
  query: Query,
  tempFolder: () => string,
  flags: SqlFlags,
  context: RunContext,
): Promise<LakeFiles> {
  if (flags.lake !== undefined) return lakeParts(flags.lake, query)
  const { mirror, from, to, last } = flags
  const baseUrl = offlineAddress(flags['base-url'])
  const { signal, warn } = context
  return exportParts(query, tempFolder(), { mirror, baseUrl, from, to, last, signal, onEvent: warningsTo(warn) })
}

/** Writes a result to its target; a file appears when it is complete. */
async function writeResult(
  { path, format, gzip }: ResultTarget,
  flags: SqlFlags,
  { signal }: RunContext,
  write: (open: () => Promise<Output>) => Promise<number>,
): Promise<Report<SqlObject> | undefined> {
  let output: Output | undefined
  try {
    const rows = await write(async () => {
      output = await openOutput(path, gzip, { force: flags.force, mkdir: flags.mkdir, signal })
      return output
    })
    const written = output as unknown as Output
    await commitOutputs([written])
    return path === '-' ? undefined : sqlReport({ path, format, rows, bytes: written.bytes })
  } catch (error) {
    await output?.discard()
    throw error
  }
}
