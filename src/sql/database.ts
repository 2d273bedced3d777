import { availableParallelism, totalmem } from 'node:os'
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from '@duckdb/node-api'
import { KlinesError } from '../klines/errors.js'
import type { Partition } from '../lake/layout.js'
import { candlesMacro, globPath, klinesView, sqlText } from '../lake/root/views.js'
import { loadDuckDB } from './duckdb.js'

/** Share of the machine's memory that a query may take; nothing goes to the disk. */
const MEMORY_SHARE = 0.6

/** The parts of a lake. */
export interface LakeFiles {
  /** Absolute paths: `.../symbol=X/interval=Y/part-0.parquet`. */
  readonly parts: readonly string[]
  readonly partition: Partition
}

/** What a locked database may touch. */
export interface DatabaseFiles extends LakeFiles {
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
      throw new KlinesError('bad_query', (cause as Error).message.trimEnd(), { cause })
    }
  }

  close(): void {
    this.signal.removeEventListener('abort', this.interrupt)
    this.connection.closeSync()
    this.instance.closeSync()
  }

  private readonly interrupt = () => this.connection.interrupt()
}
