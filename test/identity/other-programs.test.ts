import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import { fingerprintFiles } from '../../src/identity/fingerprint.js'
import { rowFormat, runExporter, toBatches } from '../support/exporting.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const HOUR = 3_600_000
const rows = [0, 1, 2, 3].map(hour => sampleRow(START + hour * HOUR))
describe('a Parquet file of another program', () => {
  async function rewritten(options: string, more = ''): Promise<string> {
    const [from, to] = ['a.parquet', 'BTCUSDT-1h.parquet'].map(name => join(tempFolder(), name))
    const { bytes } = await runExporter(
      'parquet',
      toBatches([{ known: LEAP_MONTH, rows }]),
      rowFormat({ columns: COLUMNS }),
    )
    writeFileSync(from, bytes)
    await duckdb(`copy (select *${more} from '${from}') to '${to}' (format parquet, ${options})`)
    return to
  }

  it.each([
    ['lists and structs', 'codec zstd', ', {a: 1, open: 2} as extra, [1, 2] as l, map {1: 2} as m'],
    ['pages of version 2 with gzip', 'parquet_version v2, codec gzip', ", 'x' as note"],
  ])('with %s has the same fingerprint', async (_, options, more) => {
    const { series } = await fingerprintFiles([await rewritten(options, more)])
    expect(series[0].fingerprint).toBe(fingerprintOf('BTCUSDT', '1h', rows))
  })
})
