import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openExporter } from '../../src/formats/text.js'
import { FORMATS, isBinary, NUMBER_TYPES, type NumberType } from '../../src/options.js'
import { cases } from '../support/cases.js'
import { catchError } from '../support/errors.js'
import { ALL_COLUMNS, cutBatches, METADATA, manyRows, rowFormat, runExporter, toBatches } from '../support/exporting.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime

/** More than one piece of any text format; made once, as that takes a while. */
const many = toBatches([manyRows(9000)])

describe.each(FORMATS)('%s', format => {
  it.each(isBinary(format) ? NUMBER_TYPES : (['text'] as const))(
    'the bytes depend on the rows alone, not on how they are cut into batches, with numbers %s',
    async numbers => {
      const shape = rowFormat({ columns: ALL_COLUMNS, numbers })
      const { bytes } = await runExporter(format, many, shape)
      const points = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 })
      await fc.assert(
        fc.asyncProperty(points, async cuts => {
          const again = await runExporter(format, cutBatches(many, cuts), shape)
          expect(again.bytes.equals(bytes)).toBe(true)
        }),
        { numRuns: cases(8, 3) },
      )
    },
  )

  it('rejects with the error of a failed write and does not hang', async () => {
    const error = new Error('the disk is full')
    let writes = 0
    const emit = async () => {
      if (++writes === 2) throw error
    }
    const stats = { inexactDoubles: 0 }
    const exporter = await openExporter(format, { rowFormat: rowFormat(), metadata: METADATA, stats, emit })
    const writeAll = async () => {
      for (const batch of cutBatches(many, [100, 500, 900])) await exporter.write(batch)
      await exporter.end()
    }
    expect(await catchError(writeAll())).toBe(error)
  })
})

describe.each(['parquet', 'arrow'] as const)('%s', format => {
  const exportWithCell = async (cell: Record<number, unknown>, numbers: NumberType) => {
    const rows = [sampleRow(START), sampleRow(START + 3_600_000, cell)]
    return runExporter(format, toBatches([{ known: LEAP_MONTH, rows }]), rowFormat({ numbers }))
  }

  it.each([
    [7, '1.123456789', 'quote_volume'],
    [10, '1'.repeat(31), 'taker_buy_quote_volume'],
  ])('rejects a number that does not fit the decimal type: element %i of %s', async (element, text, name) => {
    const error = await catchError(exportWithCell({ [element]: text }, 'decimal'))
    expect(error).toMatchObject({
      code: 'digits_lost',
      message: `BTCUSDT 1h 2024-02-01T01:00:00.000Z: ${name} ${text} does not fit DECIMAL(38,8): at most 30 digits before the point and 8 after it.`,
      suggestions: ['Use --numbers text, which keeps every digit.'],
    })
  })

  it('counts the doubles that lose digits, and none with decimal or text', async () => {
    const cells = { 5: '956967472546.43256738', 7: '0.1', 10: '123456789012345.12345678' }
    expect((await exportWithCell(cells, 'double')).stats.inexactDoubles).toBe(2)
    expect((await exportWithCell(cells, 'decimal')).stats.inexactDoubles).toBe(0)
    expect((await exportWithCell(cells, 'text')).stats.inexactDoubles).toBe(0)
  })
})
