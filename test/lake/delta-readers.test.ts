import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { exportLake, type Partition } from '../../src/index.js'
import { digits } from '../support/delta.js'
import { lakeSetup } from '../support/lake.js'
import { queryVersion } from '../support/oracles/delta-replay.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { FULL_WEEKS, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

/** A new DuckDB that has run the views of a lake, as `duckdb -init FILE` does. */
async function initDuckdb(lake: string) {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  await connection.run(readFileSync(join(lake, '_views.sql'), 'utf8'))
  return async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
}

describe('DuckDB without an extension', () => {
  it.each<Partition>(['none', 'year', 'month'])(
    'reads the newest version by _views.sql, also after a change: %s',
    async partition => {
      const { update, lake, read, mirror } = await lakeSetup()
      await update({ table: 'delta', partition })
      putFile(mirror, weekPath('BTCUSDT', FULL_WEEKS[0]), weekRows(FULL_WEEKS[0], { seed: 3, days: 5 }))
      await update({ table: 'delta', partition, offline: true })
      const query = await initDuckdb(lake)
      const [, block] = /^## DuckDB\n[\s\S]*?```sql\n([\s\S]*?)```/m.exec(read('_README.md').toString()) ?? []
      const statements = block.split(';\n').filter(text => text.trim() !== '')
      expect(statements).toHaveLength(3)
      expect(await query(statements[0])).toEqual([
        { symbol: 'BTCUSDT', interval: '15m', candles: '39' },
        { symbol: 'ETHUSDT', interval: '15m', candles: '42' },
      ])
      expect(await query("select count(*)::int as n from candles('BTCUSDT', '15m')")).toEqual([{ n: 39 }])
      // What the README warns of: the old part counts too, of the whole series or of the 29 candles in January.
      expect(await query(`select count(*)::int as n from '${lake}/**/*.parquet' where symbol = 'BTCUSDT'`)).toEqual([
        { n: partition === 'month' ? 39 + 29 : 39 + 42 },
      ])
      expect(read('_README.md').toString()).toContain(
        'plain glob such as `*.parquet` would count their candles as well',
      )
    },
  )

  it('reads one file for one series, and its folder is named in one place', async () => {
    const { update, lake, read, files } = await lakeSetup()
    await update({ table: 'delta' })
    const query = await initDuckdb(lake)
    const [plan] = await query("explain analyze select sum(open) from candles('BTCUSDT', '15m')")
    expect(/(?:Scanning Files: |Total Files Read: )(\S+)/.exec(JSON.stringify(plan))?.[1]).toMatch(/^1\b/)
    const texts = files()
      .filter(name => !name.endsWith('.parquet'))
      .map(name => read(name).toString())
    expect(texts.join('').split(lake)).toHaveLength(2)
  })

  it('a table can be moved: its log has relative paths', async () => {
    const { update, lake } = await lakeSetup()
    await update({ table: 'delta' })
    cpSync(lake, `${lake}-moved`, { recursive: true })
    expect(await queryVersion(`${lake}-moved`, 'select count(*)::int as n from candles')).toEqual([{ n: 84 }])
    expect((await update({ table: 'delta', output: `${lake}-moved` })).lake).toMatchObject({
      written: 0,
      delta: { version: 0, isNew: false },
    })
    const query = await initDuckdb(`${lake}-moved`)
    expect(await query('select count(*)::int as n from klines')).toEqual([{ n: 84 }])
  })
})

const FACTS = `select symbol, "interval", count(*)::int as rows, epoch_ms(min(open_time))::double as "firstOpenTime",
  epoch_ms(max(open_time))::double as "lastOpenTime", sum(count)::double as trades, sum(volume)::varchar as volume,
  sum(quote_volume)::varchar as "quoteVolume" from candles group by all`

it.skipIf(!hasRealTree)(
  'the table of the real slice has the counts and exact sums of every series, in each version (skipped without ../shared/data)',
  async () => {
    const [lake, mirror] = [join(tempFolder(), 'lake'), join(tempFolder(), 'mirror')]
    const request = {
      symbols: 'all',
      intervals: ['12h', '1d', '1M'],
      mirror,
      offline: true,
      numbers: 'decimal',
    } as const
    for (const name of ['symbols.json', 'start-dates', ...request.intervals])
      cpSync(join(realTree(), 'api/klines', name), join(mirror, 'api/klines', name), { recursive: true })
    const update = () => exportLake({ ...request, intervals: [...request.intervals], table: 'delta', output: lake })
    expect((await update()).lake).toMatchObject({ written: 9, delta: { version: 0 } })
    const folder = join(mirror, 'api/klines/12h/BTCUSDT')
    const name = readdirSync(folder).find(other => readFileSync(join(folder, other)).length > 10) as string
    const rows = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    writeFileSync(join(folder, name), JSON.stringify(rows.slice(1)))
    expect((await update()).lake).toMatchObject({ written: 1, unchanged: 8, delta: { version: 1 } })
    const expected = expectedSeries()
    const check = async (version: number) => {
      const all = await queryVersion(lake, FACTS, version)
      expect(all).toHaveLength(9)
      for (const { symbol, interval, ...facts } of all) {
        const { rows: count, ...rest } = expected[String(symbol)][String(interval)]
        const isChanged = version === 1 && symbol === 'BTCUSDT' && interval === '12h'
        expect(facts.rows, `${symbol} ${interval} ${digits(version)}`).toBe(isChanged ? count - 1 : count)
        if (!isChanged)
          expect([facts.volume, facts.quoteVolume, facts.trades]).toEqual([rest.volume, rest.quoteVolume, rest.trades])
      }
    }
    await check(0)
    await check(1)
  },
)
