import type { RowGroup as RowGroupMetadata, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { DECIMAL_SCALE } from '../../candles/decimals.js'
import { reportFingerprints } from '../../rows/fingerprint.js'
import { ColumnExporter, DECIMAL_PRECISION } from '../columns.js'
import { type ExporterOptions, METADATA_KEY, metadataText } from '../exporter.js'
import { type ColumnType, columnType } from '../row-format.js'
import { Dictionary, takePage } from './columns.js'
import { type PageCodec, pageCodec, RowGroup } from './row-group.js'

/** At its first level, zstd makes files of larger pages larger: with 50,000 rows by a tenth to a fifth. */
const ROWS_PER_PAGE = 20_000
const ROWS_PER_GROUP = 100_000
const MAGIC = Buffer.from('PAR1')
/** Longer bounds of texts are cut, as the format allows. */
const MAX_BOUND_BYTES = 64

const DECIMAL = { precision: DECIMAL_PRECISION, scale: DECIMAL_SCALE }
const TYPES: Record<ColumnType, Partial<SchemaElement>> = {
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  count: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  decimal: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    ...DECIMAL,
    logical_type: { type: 'DECIMAL', ...DECIMAL },
  },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
}

/**
 * Writes Apache Parquet: statistics for every column, nothing nullable, encodings that every reader knows. While a page of
 * each column is filled, the pages before are compressed.
 */
export class ParquetExporter extends ColumnExporter {
  private readonly schema: readonly SchemaElement[]
  private readonly dictionaries: readonly Dictionary[]
  private readonly codec: PageCodec
  private readonly groups: RowGroupMetadata[] = []
  private group: RowGroup
  /** Bytes passed on. */
  private offset = 0
  /** What is being done with the pages before. */
  private writing: Promise<void>

  constructor(private readonly options: ExporterOptions) {
    super(options, 'big', ROWS_PER_PAGE)
    const { columns, numbers, compression } = options.rowFormat
    this.dictionaries = columns.map(() => new Dictionary())
    this.schema = columns.map(name => ({ name, repetition_type: 'REQUIRED', ...TYPES[columnType(name, numbers)] }))
    this.codec = pageCodec(compression)
    this.group = new RowGroup(this.schema, this.codec)
    this.writing = this.emit(MAGIC)
    this.writing.catch(() => {})
  }

  /** Passes the filled pages on when those before are compressed: no more than two of each column are in memory. */
  protected async flush(rows: number): Promise<void> {
    await this.writing
    const { columns, dictionaries, group } = this
    const pages = columns.map((column, index) => takePage(column, rows, dictionaries[index]))
    const isLast = group.rows + rows === ROWS_PER_GROUP
    const compressed = group.add(pages, rows)
    this.writing = isLast ? this.writeGroup(group, compressed) : compressed
    // The next call reports a failure.
    this.writing.catch(() => {})
    if (isLast) this.group = new RowGroup(this.schema, this.codec)
  }

  protected async finish(): Promise<void> {
    await this.writing
    // A file without rows has an empty row group, because hyparquet-writer writes no valid list without elements.
    if (this.group.rows > 0 || this.groups.length === 0) await this.writeGroup(this.group)
    await this.emit(this.footer())
  }

  /** Writes a row group when its last pages are compressed; its dictionaries are taken at once. */
  private async writeGroup(group: RowGroup, compressed?: Promise<void>): Promise<void> {
    const dictionaries = this.dictionaries.map(dictionary => dictionary.take())
    await compressed
    this.groups.push(await group.write(this.offset, dictionaries, bytes => this.emit(bytes)))
  }

  private footer(): Uint8Array {
    const { schema, groups, options } = this
    const { metadata, rowFormat, fingerprints } = options
    const writer = new ByteWriter()
    const { series, set } = reportFingerprints(fingerprints?.() ?? [])
    const named = series.length > 0 && { fingerprint: set ?? series[0].fingerprint, fingerprints: series }
    const details = { compression: rowFormat.compression, ...named }
    const footer = {
      version: 1,
      schema: [{ name: 'schema', num_children: schema.length }, ...schema],
      num_rows: groups.reduce((sum, group) => sum + group.num_rows, 0n),
      row_groups: groups,
      key_value_metadata: [{ key: METADATA_KEY, value: metadataText(metadata, details) }],
      created_by: `klines version ${metadata.version}`,
      metadata_length: 0,
    }
    writeMetadata(writer, footer, MAX_BOUND_BYTES)
    return Buffer.concat([writer.getBytes(), MAGIC])
  }

  private async emit(bytes: Uint8Array): Promise<void> {
    this.offset += bytes.length
    await this.options.emit(bytes)
  }
}
