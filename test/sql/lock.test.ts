import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesBelow } from '../support/files-below.js'
import { oneOf } from '../support/full.js'
import { sampleRows } from '../support/sample-tree.js'
import { lockedDatabase, rowsOf } from './locked-database.js'

const DENIED = /Permission Error|file system operations are disabled|disabled (?:by|through) configuration/
const LOCKED = /configuration has been locked/

describe('a locked database', () => {
  it('reads its parts, in UTC', async () => {
    const { database } = await lockedDatabase()
    const sql = `select count(*), min(open_time), current_setting('TimeZone') from candles('BTCUSDT', '1d')`
    const rows = sampleRows('BTCUSDT', '1d')
    const first = new Date(rows[0][0]).toISOString().slice(0, 10)
    expect(await rowsOf(database, sql)).toEqual([[String(rows.length), `${first} 00:00:00+00`, 'UTC']])
  })

  /** Each is refused by DuckDB itself, whatever may have looked at the SQL before. */
  it.each<[string, RegExp]>(
    oneOf(4, [
      ["select * from read_text('/etc/passwd')", DENIED],
      ["select * from read_blob('/proc/self/environ')", DENIED],
      ["select * from read_csv('/etc/passwd')", DENIED],
      ["select * from sniff_csv('/etc/passwd')", DENIED],
      ["select * from read_json('PARENT/secret.json')", DENIED],
      ["select * from read_text('PARENT/secret.json')", DENIED],
      ["select * from read_text('LAKE/../secret.json')", DENIED],
      ["select * from 'PARENT/secret.json'", /Error/],
      ["select * from glob('/etc/*')", DENIED],
      ["select * from glob('PARENT/*')", DENIED],
      ["select * from glob('LAKE/**')", DENIED],
      ["select * from glob('LAKE/../*')", DENIED],
      ["select * from read_text('LAKE/link')", DENIED],
      ["select * from read_text('LAKE/folder-link/passwd')", DENIED],
      ["select * from read_parquet('https://example.com/x.parquet')", DENIED],
      ["select * from read_parquet('s3://bucket/x.parquet')", DENIED],
      ["select * from parquet_metadata('PARENT/other.parquet')", DENIED],
      ["select * from read_duckdb('PARENT/x.db')", DENIED],
      ["copy (select 1) to 'PARENT/x.csv'", DENIED],
      ["copy (select 1) to 'LAKE/x.csv'", DENIED],
      ["copy (select 1) to 'PART'", DENIED],
      ["explain analyze copy (select 1) to 'LAKE/x.csv'", DENIED],
      ["create table t as select 1; copy t from '/etc/passwd'", DENIED],
      ["attach 'PARENT/x.db' as x", DENIED],
      ["attach 'LAKE/x.db' as x", DENIED],
      ["export database 'LAKE/x'", DENIED],
      ["import database 'PARENT'", DENIED],
      ['create persistent secret (type s3)', /Error/],
      ['install httpfs', DENIED],
      ['load httpfs', DENIED],
      ["load 'PARENT/x.duckdb_extension'", DENIED],
      ['set enable_external_access = true', LOCKED],
      ["set allowed_directories = ['/']", LOCKED],
      ["set allowed_paths = ['/etc/passwd']", LOCKED],
      ['set lock_configuration = false', LOCKED],
      ['reset lock_configuration', LOCKED],
      ["set TimeZone = 'Asia/Tokyo'", LOCKED],
      ["set temp_directory = 'PARENT/t'", LOCKED],
      ["set log_query_path = 'PARENT/q.log'", LOCKED],
      ["set memory_limit = '1TB'", LOCKED],
      ['pragma threads = 8', LOCKED],
    ]),
  )('refuses %s', async (template, reason) => {
    const { database, lake, parent, part } = await lockedDatabase()
    writeFileSync(join(parent, 'secret.json'), '[{"secret": 1}]')
    symlinkSync('/etc/passwd', join(lake, 'link'))
    symlinkSync('/etc', join(lake, 'folder-link'))
    const files = filesBelow(parent)
    const sql = template.replaceAll('PARENT', parent).replaceAll('LAKE', lake).replaceAll('PART', part)
    await expect(database.run(sql)).rejects.toMatchObject({ code: 'bad_query', message: expect.stringMatching(reason) })
    expect(filesBelow(parent)).toEqual(files)
    expect(await rowsOf(database, `select count(*) from candles('BTCUSDT', '1d')`)).toEqual([['91']])
  })

  it('writes one file, its result', async () => {
    const { database, parent } = await lockedDatabase('result.parquet')
    const copy = (name: string) => database.run(`copy (select 1 as x) to '${parent}/${name}' (use_tmp_file false)`)
    await copy('result.parquet')
    expect(filesBelow(parent)).toContain('result.parquet')
    await expect(copy('other.parquet')).rejects.toMatchObject({ message: expect.stringMatching(DENIED) })
  })
})
