import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportLake } from '../../src/index.js'
import type { Partition } from '../../src/lake/layout.js'
import { lakeSetup } from '../support/lake.js'
import { initDuckdb } from '../support/oracles/duckdb.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { tempFolder } from '../support/temp-folder.js'

/** The statements of a section of `_README.md`. */
function findStatements(readme: string, section: string): string[] {
  const [, block] = new RegExp(`^## ${section}\\n[\\s\\S]*?\`\`\`sql\\n([\\s\\S]*?)\`\`\``, 'm').exec(readme) ?? []
  return block.split(';\n').filter(text => text.trim() !== '')
}

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
})

it.skipIf(!hasRealTree)(
  'the lake of a symbol of the real slice has the counts and exact sums of every series (skipped without ../shared/data)',
  async () => {
    const lake = join(tempFolder(), 'lake')
    const symbols = ['ADAUSDT']
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
