import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { COLUMNS } from '../../src/candles/columns.js'
import type { RowFormat } from '../../src/formats/row-format.js'
import { hasZstd } from '../../src/formats/row-format.js'
import { fingerprintFiles } from '../../src/identity/fingerprint.js'
import { COMPRESSIONS, TIME_FORMATS } from '../../src/options.js'
import { cases } from '../support/cases.js'
import { catchError } from '../support/errors.js'
import {
  ALL_COLUMNS,
  cutBatches,
  cutPoints,
  rowFormat,
  runExporter,
  toBatches,
  twoSeries,
} from '../support/exporting.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { decimals, readableTexts } from '../support/oracles/kline-arbitraries.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const HOUR = 3_600_000
const NEEDED = COLUMNS.slice(0, -1)

const fingerprints = async (...files: string[]) =>
  (await fingerprintFiles(files)).series.map(({ symbol, interval, fingerprint }) => [symbol, interval, fingerprint])

/** What a file can look like. */
const shapes = fc.record({
  kind: fc.constantFrom('csv', 'jsonl', 'parquet', 'arrow' as const),
  columns: fc.shuffledSubarray([...ALL_COLUMNS], { minLength: ALL_COLUMNS.length }),
  lacksIgnore: fc.boolean(),
  timeFormat: fc.constantFrom(...TIME_FORMATS),
  isGzip: fc.boolean(),
  numbers: fc.constantFrom('text', 'decimal' as const),
  compression: fc.constantFrom(...COMPRESSIONS.filter(name => name !== 'zstd' || hasZstd())),
})

describe('the same candles have the same fingerprint', () => {
  it('in any format, compression, order of columns, format of times and cut into batches', async () => {
    const folder = tempFolder()
    const rows = twoSeries({ decimal: decimals(30, 8), ignore: readableTexts, maxRows: 9 })
    await fc.assert(
      fc.asyncProperty(rows, shapes, cutPoints, async (parts, shape, cuts) => {
        fc.pre(parts.every(({ rows }) => rows.length > 0))
        const { kind, isGzip, lacksIgnore, numbers, timeFormat, compression } = shape
        const isText = kind === 'csv' || kind === 'jsonl'
        const columns = shape.columns.filter(name => name !== 'ignore' || !lacksIgnore)
        const format = rowFormat({ columns, numbers: isText ? 'text' : numbers, timeFormat, compression })
        const { bytes } = await runExporter(kind, cutBatches(toBatches(parts), cuts), format)
        const path = join(folder, `candles.${kind}${isText && isGzip ? '.gz' : ''}`)
        writeFileSync(path, isText && isGzip ? gzipSync(bytes) : bytes)
        expect(await fingerprints(path)).toEqual(
          parts.map(({ known: { window }, rows }) => [
            window.symbol,
            window.interval,
            fingerprintOf(window.symbol, window.interval, rows),
          ]),
        )
      }),
      { numRuns: cases(400, 16) },
    )
  })
})

/** Files of two candles, whose rows do not name the series. */
const two = () => [sampleRow(START), sampleRow(START + HOUR)]

async function written(name: string, rows: readonly KlineRow[], format: Partial<RowFormat> = {}): Promise<string> {
  const path = join(tempFolder(), name)
  const kind = name.split('.')[1] as 'csv'
  const { bytes } = await runExporter(kind, toBatches([{ known: LEAP_MONTH, rows }]), rowFormat(format))
  writeFileSync(path, bytes)
  return path
}

/** The fingerprints of a file after its text was changed. */
function rewrite(path: string, change: (text: string) => string): Promise<string[][]> {
  writeFileSync(path, change(readFileSync(path, 'utf8')))
  return fingerprints(path)
}

describe('other candles have another fingerprint, or are refused', () => {
  it.each(['BTCUSDT-1h.csv', 'BTCUSDT-1h.json'])('after any change of a digit of %s', async name => {
    const path = await written(name, two(), { columns: name.endsWith('json') ? COLUMNS : NEEDED })
    const text = readFileSync(path, 'utf8')
    const [[, , before]] = await fingerprints(path)
    const ignored = name.endsWith('json') ? [...text.matchAll(/"0"\]/g)].map(({ index }) => index + 1) : []
    const digits = [...text.matchAll(/\d/g)].map(({ index }) => index).filter(index => !ignored.includes(index))
    const change = fc.tuple(fc.constantFrom(...digits), fc.integer({ min: 1, max: 9 }))
    await fc.assert(
      fc.asyncProperty(change, async ([index, by]) => {
        const changed = text.slice(0, index) + ((Number(text[index]) + by) % 10) + text.slice(index + 1)
        writeFileSync(path, changed)
        const after = await fingerprints(path).catch(error => error.code)
        if (typeof after !== 'string') expect(after[0][2]).not.toBe(before)
        else expect(['bad_input', 'damaged_input']).toContain(after)
      }),
      { numRuns: cases(1000, 100) },
    )
  })

  it('after any row is removed, repeated or moved', async () => {
    const rows = [0, 1, 2, 3].map(hour => sampleRow(START + hour * HOUR, { 1: `${hour + 1}` }))
    const [[, , before]] = await fingerprints(await written('BTCUSDT-1h.csv', rows))
    const order = fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }).filter(order => String(order) !== '0,1,2,3')
    await fc.assert(
      fc.asyncProperty(order, async order => {
        const path = await written('BTCUSDT-1h.csv', rows)
        const found = await rewrite(path, text => {
          const [head, ...lines] = text.trimEnd().split('\n')
          return `${[head, ...order.map(index => lines[index])].join('\n')}\n`
        }).catch(error => error.code)
        const ascends = order.every((index, place) => place === 0 || index > order[place - 1])
        if (ascends) expect(found[0][2]).not.toBe(before)
        else expect(found).toBe('bad_input')
      }),
      { numRuns: cases(200, 30) },
    )
  })
})

describe('a file is refused with the file, the row and the cell', () => {
  const CSV = 'BTCUSDT-1h.csv'
  const replaceCell = (row: number, column: number, cell: string) => (text: string) => {
    const lines = text.split('\n').map(line => line.split(','))
    lines[row][column] = cell
    return lines.join('\n')
  }

  it.each([
    [
      'a row twice',
      (text: string) => text + text.split('\n')[2],
      'bad_input',
      'row 3, open_time: 2024-02-01T01:00:00.000Z does not come after 2024-02-01T01:00:00.000Z.',
    ],
    [
      'a missing column',
      (text: string) => text.replace('close,', 'cl,'),
      'bad_input',
      'it lacks the columns close; its first line has "open_time", ',
    ],
    [
      'a missing cell',
      (text: string) => text.replace(/,0\n$/, '\n'),
      'damaged_input',
      'row 2: it has 11 cells, expected 12.',
    ],
    [
      'a sign',
      replaceCell(2, 1, '-1.0'),
      'bad_input',
      'row 2, open: expected a decimal such as 0.00100000, got "-1.0".',
    ],
    ['no decimal', replaceCell(1, 5, ''), 'bad_input', 'row 1, volume: expected a decimal such as 0.00100000, got "".'],
    ['no count', replaceCell(1, 8, '1.5'), 'bad_input', 'row 1, count: expected a number of trades, got "1.5".'],
    ['an open quote', (text: string) => text.replace('42580', '"42580'), 'damaged_input', 'a quote is not closed: '],
  ])('%s', async (_, change, code, message) => {
    const path = await written(CSV, two())
    const error = await catchError(rewrite(path, change))
    expect(error.message).toContain(
      `${path}${message.startsWith('row') || message.startsWith('open:') ? ', ' : ': '}${message}`,
    )
    expect(error.code).toBe(code)
  })

  it.each(['a.parquet'])('doubles in %s', async name => {
    const path = await written(name, two(), { numbers: 'double' })
    expect(await catchError(fingerprintFiles([path]))).toMatchObject({
      code: 'bad_input',
      message: `${path}, row 1, open: it is a double, which may not hold all digits of a candle.`,
    })
  })

  it.each([
    ['BTCUSDT-1h.json', '{"a": 1}', 'expected an array of rows', 'bad_input'],
    ['BTCUSDT-1h.jsonl', '[1]\n', 'row 1: expected a JSON object', 'bad_input'],
    ['BTCUSDT-1h.csv', Buffer.of(0x6f, 0xff, 0x41), 'it is damaged'],
    ['BTCUSDT-1h.csv.gz', gzipSync('open_time,open').subarray(0, 20), 'it is damaged'],
    ['BTCUSDT-1h.parquet', 'PAR1', 'it is damaged'],
    ['BTCUSDT-1h.arrow', 'ARROW1', 'it is damaged'],
  ])('%s with %s', async (name, content, message, code = 'damaged_input') => {
    const path = join(tempFolder(), name)
    writeFileSync(path, content)
    const error = await catchError(fingerprintFiles([path]))
    expect(error.code).toBe(code)
    expect(error.message).toContain(message)
    expect(error.message).toContain(path)
  })

  it.each(['csv.gz', 'json', 'parquet', 'arrow'])('a %s that is cut off', async extension => {
    const path = await written(`BTCUSDT-1h.${extension}`.replace('.gz', ''), two(), { columns: COLUMNS })
    const bytes = readFileSync(path)
    const whole = extension.endsWith('.gz') ? gzipSync(bytes) : bytes
    const target = path.replace(/\.[^.]+$/, `.${extension}`)
    const [[, , before]] = await fingerprints(path)
    for (const length of [1, Math.floor(whole.length / 3), Math.floor(whole.length / 2), whole.length - 3]) {
      writeFileSync(target, whole.subarray(0, length))
      const after = await fingerprints(target).catch(error => error)
      // Half of a CSV may end with a row.
      if (Array.isArray(after)) expect(after[0][2]).not.toBe(before)
      else expect(['damaged_input', 'bad_input', 'no_candles']).toContain(after.code)
    }
  })

  it('a file that is not there or has no candle, a picture, and another name', async () => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'empty'))
    writeFileSync(join(folder, 'a.txt'), '')
    writeFileSync(join(folder, 'a.svg'), '')
    const codeOf = async (name: string) => (await catchError(fingerprintFiles([join(folder, name)]))).message
    expect(await codeOf('b.csv')).toBe(`${join(folder, 'b.csv')}: there is no such file.`)
    expect(await codeOf('a.svg')).toBe(`${join(folder, 'a.svg')}: its name does not say its format.`)
    expect(await codeOf('a.txt')).toBe(`${join(folder, 'a.txt')}: its name does not say its format.`)
    const none = await written('BTCUSDT-1h.csv', [])
    expect(await catchError(fingerprintFiles([none]))).toMatchObject({ code: 'no_candles' })
    expect(await codeOf('empty')).toBe(
      `${join(folder, 'empty')} is not a lake that can be read: it has no _klines.json.`,
    )
  })
})

describe('the series of a file', () => {
  const expected = (symbol: string, interval: string) => [[symbol, interval, fingerprintOf(symbol, interval, two())]]

  it.each([
    ['BTCUSDT-1h.csv', 'BTCUSDT', '1h'],
    ['ETHUSDT_60m.csv', 'ETHUSDT', '1h'],
    ['BTC_USDT-1h.csv', 'BTCUSDT', '1h'],
    ['btc_usdt_1h.csv', 'BTCUSDT', '1h'],
    ['币安人生USDT-1M.csv', '币安人生USDT', '1M'],
  ])('is in the name %s', async (name, symbol, interval) => {
    expect(await fingerprints(await written(name, two()))).toEqual(expected(symbol, interval))
  })

  it.each(['crlf-BTCUSDT-1h.csv', 'binance_btc_usdt_1h.csv', 'BTC-USDTX-1h.csv'])(
    'is not in the name %s, of which another word may be a part of the symbol',
    async name => {
      const path = await written(name, two())
      expect(await catchError(fingerprintFiles([path]))).toMatchObject({
        code: 'bad_input',
        message: `${path}: neither the file nor its name says which series it has.`,
      })
    },
  )
})
