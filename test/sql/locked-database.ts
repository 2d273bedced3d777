import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { exportKlines } from '../../src/export/export.js'
import { Database } from '../../src/sql/database.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'

/** A database over one part, and the folders around it. */
export interface LockedDatabase {
  readonly database: Database
  /** The folder of the lake. */
  readonly lake: string
  /** The folder that the lake lies in. */
  readonly parent: string
  readonly part: string
}

/** An unlocked database, closed after the test. */
export async function openDatabase(threads?: number): Promise<Database> {
  const database = await Database.open({ threads, signal: new AbortController().signal })
  onTestFinished(() => database.close())
  return database
}

/** A locked database over the daily candles of the sample's BTCUSDT. */
export async function lockedDatabase(result?: string): Promise<LockedDatabase> {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'klines-sql-test-')))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const lake = join(parent, 'lake')
  mkdirSync(lake)
  const part = join(lake, 'symbol=BTCUSDT', 'interval=1d', 'part-0.parquet')
  const series = { symbols: ['BTCUSDT'], intervals: ['1d'], mirror: SAMPLE_TREE, offline: true } as const
  await exportKlines({ ...series, output: part, mkdir: true, numbers: 'decimal' })
  const database = await openDatabase()
  await database.lock({ parts: [part], partition: 'none', result: result && join(parent, result) })
  return { database, lake, parent, part }
}

/** The rows of a query, as text. */
export async function rowsOf(database: Database, sql: string): Promise<string[][]> {
  const result = await database.run(sql)
  return (await result.getRows()).map(row => row.map(String))
}
