import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js'
import { describe, expect, test } from 'vitest'
import { fingerprintFiles } from '../../src/candle-files/fingerprint-files.js'
import { COLUMNS } from '../../src/klines/columns.js'
import { catchError } from '../support/errors.js'
import { rowFormat, runExporter, toBatches } from '../support/exporting.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const HOUR = 3_600_000
const rows = [0, 1, 2, 3].map(hour => sampleRow(START + hour * HOUR))
const NAMES = COLUMNS.slice(0, -1)
const INTEGERS = ['open_time', 'close_time', 'count']

/** What a crafted Parquet file claims; each column has one page with `body`. */
interface Claims {
  readonly rows: bigint
  readonly values: number
  readonly body: readonly number[]
  /** 0 PLAIN, 5 DELTA_BINARY_PACKED, 8 RLE_DICTIONARY. */
  readonly encoding: number
  readonly hasDictionary?: boolean
  readonly isV2?: boolean
  readonly groupRows?: bigint
  readonly pages?: number
}

function craft({ rows, values, body, encoding, hasDictionary, isV2, groupRows = rows, pages = 1 }: Claims): string {
  const writer = new ByteWriter()
  writer.appendUint32(0x31524150)
  const page = (type: number, bytes: readonly number[], header: object) => {
    serializeTCompactProtocol(writer, { field_1: type, field_2: bytes.length, field_3: bytes.length, ...header })
    writer.appendBytes(Uint8Array.from(bytes))
  }
  const columns = NAMES.map(name => {
    const start = writer.offset
    const isInteger = INTEGERS.includes(name)
    if (hasDictionary)
      page(2, isInteger ? Array(8).fill(1) : [1, 0, 0, 0, 0x31], { field_7: { field_1: 1, field_2: 0 } })
    const data = writer.offset
    for (let i = 0; i < pages; i++) {
      if (isV2) {
        const fields = { field_1: values, field_2: 0, field_3: values, field_4: encoding, field_5: 0, field_6: 0 }
        page(3, body, { field_8: { ...fields, field_7: false } })
      } else page(0, body, { field_5: { field_1: values, field_2: encoding, field_3: 3, field_4: 3 } })
    }
    const size = BigInt(writer.offset - start)
    return {
      file_offset: BigInt(start),
      meta_data: {
        type: isInteger ? ('INT64' as const) : ('BYTE_ARRAY' as const),
        encodings: ['PLAIN' as const],
        path_in_schema: [name],
        codec: 'UNCOMPRESSED' as const,
        num_values: groupRows,
        total_uncompressed_size: size,
        total_compressed_size: size,
        data_page_offset: BigInt(data),
        dictionary_page_offset: hasDictionary ? BigInt(start) : undefined,
      },
    }
  })
  const fields = NAMES.map(name => ({
    name,
    type: INTEGERS.includes(name) ? ('INT64' as const) : ('BYTE_ARRAY' as const),
    repetition_type: 'REQUIRED' as const,
  }))
  const schema = [{ name: 'root', num_children: NAMES.length }, ...fields]
  const row_groups = [{ columns, total_byte_size: BigInt(writer.offset), num_rows: groupRows }]
  writeMetadata(writer, { version: 2, schema, num_rows: rows, row_groups, metadata_length: 0 })
  writer.appendUint32(0x31524150)
  const path = join(tempFolder(), 'BTCUSDT-1h.parquet')
  writeFileSync(path, new Uint8Array(writer.getBuffer()))
  return path
}

/** A run that claims `count` values of the first entry of a dictionary. */
const run = (count: number) => {
  const bytes = [1]
  let head = count * 2
  for (; head >= 128; head = Math.floor(head / 128)) bytes.push((head % 128) + 128)
  return [...bytes, head, 0]
}
const DELTAS = [128, 1, 4, 4, 0, ...Array(40).fill(0)]
const few = { rows: 4n, values: 4, encoding: 8, hasDictionary: true, body: run(4) }

describe('a crafted Parquet file is refused before it takes memory', () => {
  test.each<[string, Partial<Claims>, string, string]>([
    [
      '100 million values in a run',
      { rows: 100_000_000n, values: 1e8, body: run(1e8) },
      'bad_input',
      'a page has 100000000 values, expected at most 262144',
    ],
    [
      '2 billion differences',
      { rows: 2n ** 31n - 1n, values: 2 ** 31 - 1, encoding: 5, body: DELTAS, hasDictionary: false },
      'bad_input',
      'a page has 2147483647 values',
    ],
    ['more values than rows', { values: 5 }, 'damaged_input', 'a page has 5 values, expected at most 4'],
    [
      'the same in a page of version 2',
      { values: 5, isV2: true },
      'damaged_input',
      'a page has 5 values, expected at most 4',
    ],
    ['fewer values than rows', { values: 3, body: run(3) }, 'damaged_input', 'it has 3 values, expected 4'],
    ['a page after the last row', { pages: 2 }, 'damaged_input', 'a page has 4 values, expected at most 0'],
    [
      'a run of more values than its page',
      { body: run(5e7) },
      'damaged_input',
      'a run has 50000000 values, expected at most 4',
    ],
    [
      'the same in version 2',
      { body: run(5e7), isV2: true },
      'damaged_input',
      'a run has 50000000 values, expected at most 4',
    ],
    ['negative rows', { rows: -5n }, 'damaged_input', 'a row group has -5 rows'],
    [
      'rows that no row group has',
      { rows: 9n, groupRows: 4n },
      'damaged_input',
      'its row groups have 4 rows, expected 9',
    ],
    ['a negative number of values', { values: -1 }, 'damaged_input', 'a page has -1 values'],
    ['no dictionary', { hasDictionary: false }, 'damaged_input', 'a page lacks its dictionary'],
    [
      'blocks of differences without parts',
      { encoding: 5, hasDictionary: false, body: [128, 1, 0, 4, 0, 0] },
      'damaged_input',
      'differences are in blocks of 128 values in 0 parts',
    ],
  ])('%s', async (_, claims, code, message) => {
    const path = craft({ ...few, ...claims })
    const before = process.memoryUsage().rss
    const error = await catchError(fingerprintFiles([path]))
    expect(error.message).toContain(message)
    expect(error.message).toContain(path)
    expect(error.code).toBe(code)
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6)
  })

  test('without these claims it is read', async () => {
    expect((await catchError(fingerprintFiles([craft(few)]))).message).toContain('row 1, open_time: expected a time')
  })

  test('metadata of 2 GB in a sparse file', async () => {
    const path = join(tempFolder(), 'BTCUSDT-1h.parquet')
    const end = Buffer.from('____PAR1')
    end.writeUInt32LE(2_000_000_000)
    writeFileSync(path, 'PAR1')
    truncateSync(path, 3_000_000_000)
    writeFileSync(path, end, { flag: 'a' })
    expect(await catchError(fingerprintFiles([path]))).toMatchObject({
      code: 'damaged_input',
      message: `${path}: it is damaged (its metadata has 2000000000 bytes, expected at most 8388608).`,
    })
  })

  test('a list in the metadata that claims more than there is', async () => {
    const path = join(tempFolder(), 'BTCUSDT-1h.parquet')
    // The second field is a list of 30 million structs.
    const metadata = Buffer.from([0x15, 2, 0x19, 0xfc, 0x80, 0x87, 0xa7, 0x0e, 0])
    const end = Buffer.from('____PAR1')
    end.writeUInt32LE(metadata.length)
    writeFileSync(path, Buffer.concat([Buffer.from('PAR1'), metadata, end]))
    const error = await catchError(fingerprintFiles([path]))
    expect([error.code, error.message]).toEqual(['damaged_input', `${path}: it is damaged (its metadata is cut off).`])
  })
})

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

  test.each(['LZ4_RAW', 'BROTLI'])('names its compression %s', async codec => {
    const path = await rewritten(`codec ${codec.replace('LZ4_RAW', 'lz4_raw').toLowerCase()}`)
    expect(await catchError(fingerprintFiles([path]))).toMatchObject({
      code: 'bad_input',
      message: `${path}, open_time: its compression is ${codec}, expected one of UNCOMPRESSED, SNAPPY, GZIP, ZSTD.`,
    })
  })

  test.each([
    ['lists and structs', 'codec zstd', ', {a: 1, open: 2} as extra, [1, 2] as l, map {1: 2} as m'],
    ['pages of version 2', 'parquet_version v2', ''],
    ['pages of version 2 with gzip', 'parquet_version v2, codec gzip', ", 'x' as note"],
  ])('with %s has the same fingerprint', async (_, options, more) => {
    const { series } = await fingerprintFiles([await rewritten(options, more)])
    expect(series[0].fingerprint).toBe(fingerprintOf('BTCUSDT', '1h', rows))
  })
})

describe('zeros in a gzip file', () => {
  const HEAD = `${COLUMNS.join(',')}\n`
  const [first, second] = [rows.slice(0, 2), rows.slice(2)].map(part => part.map(row => `${row.join(',')}\n`).join(''))
  const written = (...parts: Uint8Array[]) => {
    const path = join(tempFolder(), 'BTCUSDT-1h.csv.gz')
    writeFileSync(path, Buffer.concat(parts))
    return path
  }
  const members = [gzipSync(HEAD + first), gzipSync(second)]

  test.each([1, 50, 600_000])('%d between two members are damage', async zeros => {
    const path = written(members[0], Buffer.alloc(zeros), members[1])
    expect(await catchError(fingerprintFiles([path]))).toMatchObject({
      code: 'damaged_input',
      message: `${path}: its gzip data ends at byte ${members[0].length}, expected no further bytes than zeros.`,
    })
  })

  test.each([0, 1, 50, 600_000])('%d after the last member are none', async zeros => {
    const { series } = await fingerprintFiles([written(...members, Buffer.alloc(zeros))])
    expect(series[0].fingerprint).toBe(fingerprintOf('BTCUSDT', '1h', rows))
  })
})

test('a cut Arrow file is called damaged or cut off', async () => {
  const path = join(tempFolder(), 'BTCUSDT-1h.arrow')
  const { bytes } = await runExporter(
    'arrow',
    toBatches([{ known: LEAP_MONTH, rows }]),
    rowFormat({ columns: COLUMNS }),
  )
  for (let length = 8; length < bytes.length; length += 16) {
    writeFileSync(path, bytes.subarray(0, length))
    const error = await catchError(fingerprintFiles([path])).catch(() => undefined)
    expect(error?.message ?? '').not.toMatch(/Cannot read|undefined|null/)
  }
})
