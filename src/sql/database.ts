import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import type * as DuckDB from '@duckdb/node-api'
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from '@duckdb/node-api'
import { isAbandoned, tempName } from '../fs/temp-name.js'
import { KlinesError } from '../klines/errors.js'
import type { Partition } from '../lake/layout.js'
import { candlesMacro, globPath, klinesView, sqlText } from '../lake/root/views.js'

/** Share of the machine's memory that a query may take; nothing goes to the disk. */
const MEMORY_SHARE = 0.6

/** The parts of a lake. */
export interface LakeFiles {
  /** Absolute paths: `.../symbol=X/interval=Y/part-0.parquet`. */
  readonly parts: readonly string[]
  readonly partition: Partition
}

/** What a locked database may touch. */
interface DatabaseFiles extends LakeFiles {
  /** The one file that may be written. */
  readonly result?: string | undefined
}

/**
 * DuckDB in memory. `lock` makes the views and then takes all else away: it reads the parts, file by file, and nothing else;
 * no network, no extension, no setting. Its time zone is UTC.
 */
export class Database {
  private constructor(
    private readonly instance: DuckDBInstance,
    readonly connection: DuckDBConnection,
    private readonly signal: AbortSignal,
  ) {
    this.signal.addEventListener('abort', this.interrupt)
  }

  /** `threads`: with one, the same query gives the same bytes. Throws `duckdb_missing`. */
  static async open({ threads = 1, signal }: { threads?: number | undefined; signal: AbortSignal }): Promise<Database> {
    const { DuckDBInstance } = loadDuckDB()
    const instance = await DuckDBInstance.create(':memory:', {
      threads: String(Math.min(threads, availableParallelism())),
      memory_limit: `${Math.floor((totalmem() * MEMORY_SHARE) / 1024 / 1024)}MiB`,
      temp_directory: '',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
      allow_persistent_secrets: 'false',
      enable_external_file_cache: 'false',
    })
    return new Database(instance, await instance.connect(), signal)
  }

  /**
   * Makes the view `klines` and the macro `candles` over the parts, and locks the database. Files are named one by one: in an allowed
   * folder DuckDB could also write.
   */
  async lock({ parts, partition, result }: DatabaseFiles): Promise<void> {
    // DuckDB takes each path as a glob, and asks for the right to read it as such too.
    const globs = parts.map(globPath)
    const allowed = [...new Set([...parts, ...globs, ...(result === undefined ? [] : [result])])]
    const list = (paths: readonly string[]) => `[${paths.map(sqlText).join(', ')}]`
    const views = parts.length > 0 ? [klinesView(list(globs), partition), candlesMacro(partition)] : []
    const lock = [
      "set TimeZone = 'UTC'",
      ...(allowed.length > 0 ? [`set allowed_paths = ${list(allowed)}`] : []),
      'set enable_external_access = false',
      'set lock_configuration = true',
    ]
    for (const statement of [...views, ...lock]) await this.run(statement)
  }

  /**
   * Runs SQL to its end; returns the result, which is in memory. Streaming would not do: a stream of this package that fails in its
   * middle ends like a whole one. Throws `bad_query` with DuckDB's message.
   */
  async run(sql: string): Promise<DuckDBResult> {
    return this.guard(() => this.connection.run(sql))
  }

  /** Runs something of DuckDB. Throws the reason of an abort, or `bad_query` with DuckDB's message. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    this.signal.throwIfAborted()
    try {
      return await work()
    } catch (cause) {
      this.signal.throwIfAborted()
      const message = (cause as Error).message.trimEnd().replace(/\nDid you mean "(?:sqlite|duckdb|pg)_\w+"\?/, '')
      throw new KlinesError('bad_query', message, { cause, suggestions: suggestTable(message) })
    }
  }

  close(): void {
    this.signal.removeEventListener('abort', this.interrupt)
    this.connection.closeSync()
    this.instance.closeSync()
  }

  private readonly interrupt = () => this.connection.interrupt()
}

/** How series are read, for a query that reads a table of another name, such as `BTCUSDT_1h`. */
function suggestTable(message: string): string[] {
  const [, name] = /Table with name (\S+) does not exist/.exec(message) ?? []
  if (name === undefined) return []
  const [, symbol = 'BTCUSDT', interval = '1h'] = /^([a-z0-9]{2,20})[_-](\d{1,2}[a-z])$/i.exec(name) ?? []
  return [`A series is candles('${symbol.toUpperCase()}', '${interval}'), and all of them are klines.`]
}

/** The package is an optional peer: 70 MB that only `klines sql` needs. */
const PACKAGE = '@duckdb/node-api'

// The package is CommonJS in some 180 files: the loader of ES modules takes twice as long for them.
const require = createRequire(import.meta.url)

/** Loads DuckDB. Throws `duckdb_missing` when it is not installed, or has no build for this machine. */
function loadDuckDB(): typeof DuckDB {
  try {
    const duckdb: typeof DuckDB = require(PACKAGE)
    // Its texts of times are in the zone of this machine otherwise.
    duckdb.DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
    return duckdb
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    const [reason] = isMissing ? ['it is not installed'] : message.split('\n')
    throw new KlinesError('duckdb_missing', `klines sql needs DuckDB, the package ${PACKAGE}: ${reason}.`, {
      cause,
      suggestions: [
        `Install it beside klines: npm install ${PACKAGE}`,
        `If klines is installed globally: npm install -g ${PACKAGE}`,
      ],
    })
  }
}

const PREFIX = 'klines-sql-'

/** Makes a folder in the system's temporary one, which only this user may read, and removes those of processes that were killed. */
export function makeTempFolder(): string {
  const parent = realpathSync(tmpdir())
  removeAbandoned(parent)
  const folder = join(parent, PREFIX + tempName())
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

/** Never throws: what stays does no harm. */
function removeAbandoned(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      if (!name.startsWith(PREFIX) || !isAbandoned(name.slice(PREFIX.length))) continue
      const folder = join(parent, name)
      // Anyone may make a folder of this name there.
      if (lstatSync(folder).uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true })
    }
  } catch {}
}
