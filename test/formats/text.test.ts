import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import type { OutputColumn, TimeFormat } from '../../src/options.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { cases } from '../support/cases.js'
import {
  ALL_COLUMNS,
  cutBatches,
  cutPoints,
  manyRows,
  rowFormat,
  runExporter,
  toBatches,
  twoSeries,
  type WindowRows,
} from '../support/exporting.js'
import { klineRows, oddTexts } from '../support/oracles/kline-arbitraries.js'
import { LEAP_MONTH, sampleRow, toJsonBytes } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const HOUR = 3_600_000
const leap = (...rows: WindowRows['rows']): WindowRows => ({ known: LEAP_MONTH, rows })

function timeText(ms: number, format: TimeFormat): string {
  if (format === 'ms') return String(ms)
  if (format === 'us') return String(BigInt(ms) * 1000n)
  if (format === 'iso') return new Date(ms).toISOString()
  const [seconds, rest] = [BigInt(ms) / 1000n, BigInt(ms) % 1000n]
  return rest === 0n ? String(seconds) : `${seconds}.${String(rest).padStart(3, '0')}`
}

/** The rows of a file as their cells: `[text, whether JSON writes it as a string]`. */
function cells(
  parts: readonly WindowRows[],
  columns: readonly OutputColumn[],
  format: TimeFormat,
): [string, boolean][][] {
  return parts.flatMap(({ known, rows }) =>
    rows.map(row =>
      columns.map((name): [string, boolean] => {
        if (name === 'symbol' || name === 'interval') return [known.window[name], true]
        const cell = row[COLUMNS.indexOf(name)]
        if (name === 'open_time' || name === 'close_time') return [timeText(cell as number, format), format === 'iso']
        return [String(cell), name !== 'count']
      }),
    ),
  )
}

type Oracle = (parts: readonly WindowRows[], columns: readonly OutputColumn[], format: TimeFormat) => string
const token = ([text, quoted]: [string, boolean]) => (quoted ? JSON.stringify(text) : text)

const expectedCsv: Oracle = (parts, columns, format) =>
  stringify([[...columns], ...cells(parts, columns, format).map(row => row.map(([text]) => text))])
const expectedJson: Oracle = (...args) =>
  `[${cells(...args)
    .map(row => `[${row.map(token).join(',')}]`)
    .join(',')}]`
const expectedJsonl: Oracle = (parts, columns, format) =>
  cells(parts, columns, format)
    .map(row => `{${row.map((cell, index) => `"${columns[index]}":${token(cell)}`).join(',')}}\n`)
    .join('')

const shapes = fc.record({
  columns: fc.shuffledSubarray([...ALL_COLUMNS], { minLength: 1 }),
  timeFormat: fc.constantFrom<TimeFormat>('ms', 's', 'us', 'iso'),
})

describe.each([
  ['csv', expectedCsv],
  ['json', expectedJson],
  ['jsonl', expectedJsonl],
] as const)('%s', (exporter, oracle) => {
  it('has the bytes that the oracle computes, for any rows, columns, time format and split into batches', async () => {
    await fc.assert(
      fc.asyncProperty(twoSeries({ ignore: oddTexts }), shapes, cutPoints, async (parts, shape, points) => {
        const { bytes } = await runExporter(exporter, cutBatches(toBatches(parts), points), rowFormat(shape))
        expect(bytes.toString()).toBe(oracle(parts, shape.columns, shape.timeFormat))
      }),
      { numRuns: cases(600, 60) },
    )
  })

  it('has them also for more bytes than fit in one chunk, in many batches', async () => {
    const part = manyRows(5_000)
    const pieces = cutBatches(toBatches([part]), [0, 1, 333, 334, 999, 1000])
    expect((await runExporter(exporter, pieces, rowFormat())).bytes.toString()).toBe(oracle([part], COLUMNS, 'ms'))
  })
})

describe('the default CSV', () => {
  it('quotes a cell with a comma, a quote or a line end, and no other', async () => {
    const texts = ['plain', 'a,b', 'say "x"', 'a\nb', 'a\rb', '', ' ', "it's", 'a;b\tc', '=1+1', '名😀']
    const rows = texts.map((text, index) => sampleRow(START + index * HOUR, { 11: text }))
    const { bytes } = await runExporter(
      'csv',
      toBatches(rows.map(row => leap(row))),
      rowFormat({ columns: ['count', 'ignore'] }),
    )
    expect(bytes.toString()).toBe(
      'count,ignore\n53210,plain\n53210,"a,b"\n53210,"say ""x"""\n53210,"a\nb"\n53210,"a\rb"\n53210,\n53210, \n' +
        "53210,it's\n53210,a;b\tc\n53210,=1+1\n53210,名😀\n",
    )
  })

  it('keeps every digit of the source', async () => {
    const row = sampleRow(START, {
      1: '0042.10',
      5: '956967472546.43256738',
      7: '9'.repeat(60),
      10: '0.000000000000000001',
    })
    const columns = ['open', 'volume', 'quote_volume', 'taker_buy_quote_volume'] as const
    const { bytes } = await runExporter('csv', toBatches([leap(row)]), rowFormat({ columns }))
    expect(bytes.toString().split('\n')[1]).toBe(`0042.10,956967472546.43256738,${'9'.repeat(60)},0.000000000000000001`)
  })
})

describe('json', () => {
  it('of one window in the wire form is that window, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(klineRows(LEAP_MONTH), cutPoints, async (rows, points) => {
        const bytes = toJsonBytes(rows)
        const batches = cutBatches([decodeWindow(bytes, LEAP_MONTH.window)], points)
        expect((await runExporter('json', batches, rowFormat())).bytes.equals(bytes)).toBe(true)
      }),
      { numRuns: cases(300, 40) },
    )
  })

  it('of unusual JSON is written in the wire form', async () => {
    const odd = Buffer.from(
      `\ufeff [ ${JSON.stringify(sampleRow(START)).replace('53210', '5.321e4').replace('"0"', '"\\u0030"')} ]`,
    )
    const { bytes } = await runExporter('json', [decodeWindow(odd, LEAP_MONTH.window)], rowFormat())
    expect(bytes.toString()).toBe(JSON.stringify([sampleRow(START)]))
  })

  it('without rows is an empty array; jsonl is empty, and csv has only the header', async () => {
    const empty = toBatches([leap(), leap()])
    const texts = await Promise.all(
      (['json', 'jsonl', 'csv'] as const).map(format => runExporter(format, empty, rowFormat({ columns: ['open'] }))),
    )
    expect(texts.map(({ bytes }) => bytes.toString())).toEqual(['[]', '', 'open\n'])
  })
})

it('a row of more than 512 KiB is refused', async () => {
  const rows = leap(sampleRow(START, { 11: 'A'.repeat(600_000) }))
  for (const format of ['csv', 'jsonl'] as const)
    await expect(runExporter(format, toBatches([rows]), rowFormat({ columns: ALL_COLUMNS }))).rejects.toThrow(
      'A row has more than 524288 bytes.',
    )
})
