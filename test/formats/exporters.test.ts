import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openExporter } from '../../src/formats/text.js'
import { FORMATS } from '../../src/options/formats.js'
import { NUMBER_TYPES, type NumberType } from '../../src/options/output-options.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { cases } from '../support/cases.js'
import { runChild } from '../support/cli/run-child.js'
import { catchError } from '../support/errors.js'
import { ALL_COLUMNS, cutBatches, METADATA, manyRows, rowFormat, runExporter, toBatches } from '../support/exporting.js'
import { decimals, klineRows } from '../support/oracles/kline-arbitraries.js'
import { sampleHashes } from '../support/oracles/sample-hashes.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime

let large: KlineBatch[] | undefined
/** More rows than any exporter writes at once; made once, as that takes a while. */
function largeBatches(): KlineBatch[] {
  large ??= cutBatches(toBatches([manyRows(110_000)]), [100, 500, 900])
  return large
}

describe.each(FORMATS)('%s', format => {
  test.each(NUMBER_TYPES)(
    'the bytes depend on the rows alone, not on how they are cut into batches, with numbers %s',
    async numbers => {
      const shape = rowFormat({ columns: ALL_COLUMNS, numbers })
      const batches = toBatches([manyRows(9000)])
      const { bytes } = await runExporter(format, batches, shape)
      const points = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 })
      await fc.assert(
        fc.asyncProperty(points, async cuts => {
          const again = await runExporter(format, cutBatches(batches, cuts), shape)
          expect(again.bytes.equals(bytes)).toBe(true)
        }),
        { numRuns: cases(8, 3) },
      )
    },
  )

  test.each([1, 2])('rejects with the error of a failed write (number %i) and does not hang', async failing => {
    const error = new Error('the disk is full')
    let writes = 0
    const emit = async () => {
      if (++writes === failing) throw error
    }
    const stats = { inexactDoubles: 0 }
    const exporter = await openExporter(format, { rowFormat: rowFormat(), metadata: METADATA, stats, emit })
    const writeAll = async () => {
      for (const batch of largeBatches()) await exporter.write(batch)
      await exporter.end()
    }
    expect(await catchError(writeAll())).toBe(error)
  })
})

test('another process writes the same bytes, in every format', async () => {
  const [here, child] = await Promise.all([sampleHashes(), runChild('oracles/sample-hashes.ts', [])])
  expect(child.stderr).toBe('')
  expect(JSON.parse(child.stdout)).toEqual(here)
  expect(new Set(Object.values(here)).size).toBe(3 + 2 * 3)
})

describe.each(['parquet', 'arrow'] as const)('%s', format => {
  const exportWithCell = async (cell: Record<number, unknown>, numbers: NumberType) => {
    const rows = [sampleRow(START), sampleRow(START + 3_600_000, cell)]
    return runExporter(format, toBatches([{ known: LEAP_MONTH, rows }]), rowFormat({ numbers }))
  }

  test.each([
    [7, '1.123456789', 'quote_volume'],
    [1, '0.000000001', 'open'],
    [10, '1'.repeat(31), 'taker_buy_quote_volume'],
  ])('rejects a number that does not fit the decimal type: element %i of %s', async (element, text, name) => {
    const error = await catchError(exportWithCell({ [element]: text }, 'decimal'))
    expect(error).toMatchObject({
      code: 'digits_lost',
      message: `BTCUSDT 1h 2024-02-01T01:00:00.000Z: ${name} ${text} does not fit DECIMAL(38,8): at most 30 digits before the point and 8 after it.`,
      suggestions: ['Use --numbers text, which keeps every digit.'],
    })
  })

  test('accepts a number that fits the decimal type without its trailing zeros', async () => {
    await exportWithCell({ 7: '1.123456780000000', 1: `000${'9'.repeat(30)}.99999999` }, 'decimal')
  })

  test('counts the doubles that lose digits, and none with decimal or text', async () => {
    const cells = { 5: '956967472546.43256738', 7: '0.1', 10: '123456789012345.12345678' }
    expect((await exportWithCell(cells, 'double')).stats.inexactDoubles).toBe(2)
    expect((await exportWithCell(cells, 'decimal')).stats.inexactDoubles).toBe(0)
    expect((await exportWithCell(cells, 'text')).stats.inexactDoubles).toBe(0)
  })

  test('counts the doubles whose String(Number(text)) has lost digits, for any rows', async () => {
    const trim = (text: string) =>
      text
        .replace(/^0+(?=\d)/, '')
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '')
    await fc.assert(
      fc.asyncProperty(klineRows(LEAP_MONTH, { decimal: decimals(12, 5) }), async rows => {
        fc.pre(rows.length > 0)
        const { stats } = await runExporter(
          format,
          toBatches([{ known: LEAP_MONTH, rows }]),
          rowFormat({ numbers: 'double' }),
        )
        const texts = rows.flatMap(row => [1, 2, 3, 4, 5, 7, 9, 10].map(index => String(row[index])))
        const plain = (value: number) => (value < 1e-6 ? value.toFixed(8) : String(value))
        expect(stats.inexactDoubles).toBe(texts.filter(text => trim(plain(Number(text))) !== trim(text)).length)
      }),
      { numRuns: cases(40, 8) },
    )
  })
})
