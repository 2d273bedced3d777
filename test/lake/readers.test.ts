import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lakeSetup } from '../support/lake.js'
import { initDuckdb } from '../support/oracles/duckdb.js'

/** The statements of a section of `_README.md`. */
function findStatements(readme: string, section: string): string[] {
  const [, block] = new RegExp(`^## ${section}\\n[\\s\\S]*?\`\`\`sql\\n([\\s\\S]*?)\`\`\``, 'm').exec(readme) ?? []
  return block.split(';\n').filter(text => text.trim() !== '')
}

describe('DuckDB', () => {
  it('runs _views.sql and the statements of _README.md', async () => {
    const { update, lake } = await lakeSetup()
    await update({ output: `${lake}'s` })
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
    const [first, , comment, statement] = readFileSync(join(`${lake}'s`, '_views.sql'), 'utf8').split('\n')
    const advice =
      'After the lake was moved, write its new path into the first statement, or run klines with the new folder.'
    expect(first).toBe(`-- For DuckDB: duckdb -init _views.sql. ${advice}`)
    expect(`${comment}\n${statement}`).toMatch(/^-- .*\nset variable klines_lake = /)
  })
})
