import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../src/sql/query.js'
import { openDatabase } from './locked-database.js'

describe('parseQuery', () => {
  it.each([
    "select 1; -- candles('ETHUSDT', '1h')",
    "select 'candles(''ETHUSDT'', ''1h'')'",
    'with klines as (select 1 as x) from klines',
    'values (1), (2)',
    'summarize select 1',
  ])('accepts %s, which reads no series', async sql => {
    expect(await parseQuery(await openDatabase(), sql)).toEqual({ sql, isExplain: false, calls: [], readsAll: false })
  })

  it.each([
    ["from candles('BTCUSDT', '1d')", [['BTCUSDT', '1d']]],
    [
      "select (select max(high) from Candles('BTCUSDT', '1h')) from CANDLES('A''B', '1d') a",
      [
        ['BTCUSDT', '1h'],
        ["A'B", '1d'],
      ],
    ],
    [
      "with x as (from candles('BTCUSDT', '1d')) select * from x, candles('ETHUSDT', '1d')",
      [
        ['BTCUSDT', '1d'],
        ['ETHUSDT', '1d'],
      ],
    ],
    ["from candles('BTC' || 'USDT', '1d')", [[undefined, '1d']]],
    ["describe from candles('BTCUSDT', '1d')", [['BTCUSDT', '1d']]],
    ["from candles('BTCUSDT')", [['BTCUSDT']]],
  ])('finds the series of %s', async (sql, calls) => {
    const query = await parseQuery(await openDatabase(), sql)
    expect(query.calls.toSorted()).toEqual(calls.toSorted())
    expect(query.readsAll).toBe(false)
  })

  it.each([
    'from klines',
    'select (select count(*) from KLINES)',
    'describe klines',
    'summarize klines',
    'explain from klines',
  ])('%s reads all series', async sql => {
    expect(await parseQuery(await openDatabase(), sql)).toMatchObject({ calls: [], readsAll: true })
  })

  it.each([
    'explain select 1',
    ' EXPLAIN  ANALYZE select 1',
    'explain (analyze, format json) select 1',
    '-- its cost\n/* a */ explain select 1',
  ])('%s is an explanation', async sql => {
    expect(await parseQuery(await openDatabase(), sql)).toMatchObject({ isExplain: true })
  })

  it.each([
    ['', '0 statements'],
    ['select 1; select 2', '2 statements'],
    ["copy (select 1) to 'x.csv'", 'only reads'],
    ["explain copy (select 1) to 'x.csv'", 'only reads'],
    ["explain analyze copy (select 1) to 'x.csv'", 'only reads'],
    ["explain (analyze) copy (select 1) to 'x.csv'", 'only reads'],
    ["explain /* */ analyze copy (select 1) to 'x.csv'", ''],
    ["explain explain copy (select 1) to 'x.csv'", ''],
    ["/* */ explain analyze copy (select 1) to 'x.csv'", 'only reads'],
    ['create table t as select 1', 'only reads'],
    ['insert into t values (1)', 'only reads'],
    ["attach 'x.db'", 'only reads'],
    ['install httpfs', 'only reads'],
    ['load httpfs', 'only reads'],
    ['set threads = 9', 'only reads'],
    ['pragma threads = 9', 'only reads'],
    ["import database 'x'", 'only reads'],
    ["call enable_logging(storage = 'file')", 'only reads'],
    ["select * from enable_logging(storage = 'file')", 'enable_logging'],
    ['select * from Enable_Profiling()', 'enable_profiling'],
    ["select * from query('select 1')", 'function query'],
    ["select * from json_execute_serialized_sql('{}')", 'json_execute_serialized_sql'],
    ['select * from (select * from arrow_scan_dumb(1, 2, 3))', 'arrow_scan_dumb'],
  ])('refuses %s', async (sql, reason) => {
    const error = { code: 'bad_query', message: expect.stringContaining(reason) }
    await expect(parseQuery(await openDatabase(), sql)).rejects.toMatchObject(error)
  })

  it("reports a syntax error in DuckDB's words", async () => {
    const message = 'Parser Error: syntax error at or near "selec"\n\nLINE 1: selec 1\n        ^'
    await expect(parseQuery(await openDatabase(), 'selec 1')).rejects.toMatchObject({ code: 'bad_query', message })
  })

  it.each([
    ['BTCUSDT_4h', "candles('BTCUSDT', '4h')"],
    ['prices', "candles('BTCUSDT', '1h')"],
  ])('for the table %s, which there is not, names how series are read', async (table, series) => {
    const database = await openDatabase()
    await expect(database.run(`select * from ${table}`)).rejects.toMatchObject({
      code: 'bad_query',
      message: expect.not.stringContaining('Did you mean'),
      suggestions: [`A series is ${series}, and all of them are klines.`],
    })
  })
})
