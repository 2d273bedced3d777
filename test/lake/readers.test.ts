import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, it } from 'vitest'
import { exportLake, type Partition } from '../../src/index.js'
import { lakeSetup, onlyPart } from '../support/lake.js'
import { initDuckdb } from '../support/oracles/duckdb.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { treeRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

/** The statements of a section of `_README.md`. */
function findStatements(readme: string, section: string): string[] {
  const [, block] = new RegExp(`^## ${section}\\n[\\s\\S]*?\`\`\`sql\\n([\\s\\S]*?)\`\`\``, 'm').exec(readme) ?? []
  return block.split(';\n').filter(text => text.trim() !== '')
}

const scanned = (plan: string) => /(?:Scanning Files: |Total Files Read: )(\S+)/.exec(plan)?.[1]

describe('DuckDB', () => {
  it.each<Partition>(['none', 'year', 'month'])(
    'runs _views.sql and the statements of _README.md: %s',
    async partition => {
      const { update, lake, read } = await lakeSetup()
      await update({ partition, output: `${lake}'s` })
      const query = await initDuckdb(join(`${lake}'s`, '_views.sql'))
      const statements = findStatements(readFileSync(join(`${lake}'s`, '_README.md'), 'utf8'), 'DuckDB')
      expect(statements).toHaveLength(3)
      const [counts, daily, rows] = await Promise.all(statements.map(query))
      expect(counts).toEqual(['BTCUSDT', 'ETHUSDT'].map(symbol => ({ symbol, interval: '15m', candles: '42' })))
      expect(daily).toEqual([{ candles: '0' }])
      expect(rows).toEqual([])
      expect(
        await query("select count(*) as n, min(open_time)::varchar as first from candles('ETHUSDT', '15m')"),
      ).toEqual([{ n: '42', first: '2025-01-06 00:00:00+00' }])
      expect(() => read('_views.sql')).toThrow()
    },
  )

  it('names its folder in one place', async () => {
    const { update, lake, read, files } = await lakeSetup()
    await update()
    const texts = files()
      .filter(name => !name.endsWith('.parquet'))
      .map(name => read(name).toString())
    expect(texts.join('').split(lake)).toHaveLength(2)
  })

  it('reads one file for one series', async () => {
    const { update, lake } = await lakeSetup()
    await update()
    const query = await initDuckdb(join(lake, '_views.sql'))
    for (const sql of [
      "select sum(open) from candles('BTCUSDT', '15m')",
      "select sum(open) from klines where symbol = 'BTCUSDT'",
    ]) {
      const [plan] = await query(`explain analyze ${sql}`)
      expect(scanned(JSON.stringify(plan))).toMatch(/^1\b/)
    }
    const [all] = await query('explain analyze select sum(open) from klines')
    expect(scanned(JSON.stringify(all))).not.toMatch(/^1\b/)
  })
})

it('hyparquet reads a part', async () => {
  const { update, lake } = await lakeSetup()
  await update({ numbers: 'text' })
  const file = await asyncBufferFromFile(join(lake, onlyPart('ETHUSDT')))
  const rows = await parquetReadObjects({ file, compressors, columns: ['open_time', 'close'] })
  const expected = [...treeRows('ETHUSDT').values()].flat()
  expect(rows).toEqual(expected.map(row => ({ open_time: new Date(row[0]), close: row[4] })))
})

it.skipIf(!hasRealTree)(
  'the lake of the real slice has the counts and exact sums of every series (skipped without ../shared/data)',
  async () => {
    const lake = join(tempFolder(), 'lake')
    const symbols = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']
    const count = 12 * symbols.length
    const request = {
      symbols,
      intervals: 'all',
      mirror: realTree(),
      offline: true,
      numbers: 'decimal',
      threads: 1,
    } as const
    const { lake: changes } = await exportLake({ ...request, output: lake })
    expect(changes).toMatchObject({ written: count, unchanged: 0 })
    const query = await initDuckdb(join(lake, '_views.sql'))
    const rows =
      await query(`select symbol, "interval", count(*)::int as rows, epoch_ms(min(open_time))::double as "firstOpenTime",
    epoch_ms(max(open_time))::double as "lastOpenTime", sum(count)::double as trades, sum(volume)::varchar as volume,
    sum(quote_volume)::varchar as "quoteVolume" from klines group by all`)
    expect(rows).toHaveLength(count)
    const expected = expectedSeries()
    for (const { symbol, interval, ...facts } of rows)
      expect(expected[String(symbol)][String(interval)], `${symbol} ${interval}`).toMatchObject(facts)
    expect((await exportLake({ ...request, output: lake })).lake).toMatchObject({ written: 0, unchanged: count })
  },
)
