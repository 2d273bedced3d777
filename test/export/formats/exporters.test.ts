import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Exporter } from '../../../src/export/formats/exporter.js'
import { FORMATS } from '../../../src/export/formats/format.js'
import { openExporter } from '../../../src/export/formats/open-exporter.js'
import { NUMBER_TYPES, type NumberType } from '../../../src/export/row-format.js'
import type { KlineBatch } from '../../../src/klines/batch/kline-batch.js'
import { runChild } from '../../support/cli/run-child.js'
import { errorOf } from '../../support/errors.js'
import { ALL_COLUMNS, batchesOf, cutBatches, exported, FACTS, manyRows, shapeOf } from '../../support/exporting.js'
import { decimals, klineRows } from '../../support/oracles/kline-arbitraries.js'
import { sampleHashes } from '../../support/oracles/sample-hashes.js'
import { LEAP_MONTH, sampleRow } from '../../support/windows.js'

const START = LEAP_MONTH.span.startTime

async function* failingAfter(batches: readonly KlineBatch[], error: unknown): AsyncGenerator<KlineBatch> {
  yield* batches
  throw error
}

describe.each(FORMATS)('%s', format => {
  const load = () => openExporter(format)

  test.each(NUMBER_TYPES)(
    'the bytes depend on the rows alone, not on how they are cut into batches, with numbers %s',
    async numbers => {
      const exporter = await load()
      const shape = shapeOf({ columns: ALL_COLUMNS, numbers })
      const batches = batchesOf([manyRows(9000)])
      const { bytes } = await exported(exporter, batches, shape)
      const points = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 })
      await fc.assert(
        fc.asyncProperty(points, async cuts => {
          const again = await exported(exporter, cutBatches(batches, cuts), shape)
          expect(again.bytes.equals(bytes)).toBe(true)
        }),
        { numRuns: 8 },
      )
    },
  )

  test.each([0, 1, 20_000])('what the batches throw after %i rows is what the exporter rejects with', async rows => {
    const error = new Error('window 3 is gone')
    const batches = failingAfter(rows === 0 ? [] : batchesOf([manyRows(rows)]), error)
    const shape = shapeOf({ numbers: format === 'parquet' ? 'double' : 'text' })
    expect(await errorOf(exported(await load(), batches, shape))).toBe(error)
  })

  test('a reader that stops early ends the batches too', async () => {
    const batches = batchesOf([manyRows(50_000)])
    let ended = false
    const source = async function* () {
      try {
        for (;;) yield* batches
      } finally {
        ended = true
      }
    }
    const exporter: Exporter = await load()
    const notes = { inexactDoubles: 0 }
    for await (const chunk of exporter(source(), shapeOf(), FACTS, notes)) if (chunk.length > 0) break
    expect(ended).toBe(true)
  })
})

test('another process writes the same bytes, in every format', async () => {
  const [here, child] = await Promise.all([sampleHashes(), runChild('sample-hashes.ts', [])])
  expect(child.stderr).toBe('')
  expect(JSON.parse(child.stdout)).toEqual(here)
  expect(new Set(Object.values(here)).size).toBe(3 + 2 * 3)
})

describe.each(['parquet', 'arrow'] as const)('%s', format => {
  const export1 = async (cell: Record<number, unknown>, numbers: NumberType) => {
    const rows = [sampleRow(START), sampleRow(START + 3_600_000, cell)]
    return exported(await openExporter(format), batchesOf([{ known: LEAP_MONTH, rows }]), shapeOf({ numbers }))
  }

  test.each([
    [7, '1.123456789', 'quote_volume'],
    [1, '0.000000001', 'open'],
    [10, '1'.repeat(31), 'taker_buy_quote_volume'],
  ])('refuses as decimal what does not fit: element %i of %s', async (element, text, name) => {
    const error = await errorOf(export1({ [element]: text }, 'decimal'))
    expect(error).toMatchObject({
      code: 'digits_lost',
      message: `BTCUSDT 1h 2024-02-01T01:00:00.000Z: ${name} ${text} does not fit DECIMAL(38,8): at most 30 digits before the point and 8 after it.`,
      suggestions: ['Use --numbers text, which keeps every digit.'],
    })
  })

  test('takes as decimal what fits, zeros behind it included', async () => {
    await export1({ 7: '1.123456780000000', 1: `000${'9'.repeat(30)}.99999999` }, 'decimal')
  })

  test('counts the doubles that lost digits, and none with decimal or text', async () => {
    const cells = { 5: '956967472546.43256738', 7: '0.1', 10: '123456789012345.12345678' }
    expect((await export1(cells, 'double')).notes.inexactDoubles).toBe(2)
    expect((await export1(cells, 'decimal')).notes.inexactDoubles).toBe(0)
    expect((await export1(cells, 'text')).notes.inexactDoubles).toBe(0)
  })

  test('counts them as String(Number(text)) shows them, for any rows', async () => {
    const exporter = await openExporter(format)
    const trim = (text: string) =>
      text
        .replace(/^0+(?=\d)/, '')
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '')
    await fc.assert(
      fc.asyncProperty(klineRows(LEAP_MONTH, { decimal: decimals(12, 5) }), async rows => {
        fc.pre(rows.length > 0)
        const { notes } = await exported(
          exporter,
          batchesOf([{ known: LEAP_MONTH, rows }]),
          shapeOf({ numbers: 'double' }),
        )
        const texts = rows.flatMap(row => [1, 2, 3, 4, 5, 7, 9, 10].map(index => String(row[index])))
        const plain = (value: number) => (value < 1e-6 ? value.toFixed(8) : String(value))
        expect(notes.inexactDoubles).toBe(texts.filter(text => trim(plain(Number(text))) !== trim(text)).length)
      }),
      { numRuns: 40 },
    )
  })
})
