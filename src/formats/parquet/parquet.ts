import type { RowGroup as RowGroupMetadata, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import type { KlineBatch } from '../../rows/kline-batch.js'
import { ColumnFiller } from '../columns.js'
import { describeFingerprints, type Exporter, type ExporterOptions, METADATA_KEY, metadataText } from '../exporter.js'
import type { PageColumn } from './columns.js'
import { type PageCodec, pageCodec } from './compression.js'
import { RowGroup } from './row-group.js'
import { createdBy, createPageColumn, schemaElements } from './schema.js'

/** At its first level, zstd makes files of larger pages larger: with 50,000 rows by a tenth to a fifth. */
const ROWS_PER_PAGE = 20_000
const ROWS_PER_GROUP = 100_000
const MAGIC = Buffer.from('PAR1')
/** Longer bounds of texts are cut, as the format allows. */
const MAX_BOUND_BYTES = 64

/**
 * Writes Apache Parquet: statistics for every column, nothing nullable, row groups of 100,000 rows, encodings that every reader
 * knows. While a page of each column is filled, the pages before are compressed. The same rows give the same bytes.
 */
export class ParquetExporter implements Exporter {
  private readonly schema: readonly SchemaElement[]
  private readonly codec: PageCodec
  private readonly columns: readonly PageColumn[]
  private readonly groups: RowGroupMetadata[] = []
  private group: RowGroup
  private readonly filler: ColumnFiller
  /** Bytes passed on. */
  private offset = 0
  /** What is being done with the pages before. */
  private writing: Promise<void>

  constructor(private readonly options: ExporterOptions) {
    const { columns, numbers, compression } = options.rowFormat
    this.schema = schemaElements(options.rowFormat)
    this.codec = pageCodec(compression)
    this.columns = columns.map(name => createPageColumn(name, numbers, ROWS_PER_PAGE, options.stats))
    this.filler = new ColumnFiller(this.columns, ROWS_PER_PAGE, rows => this.endPages(rows))
    this.group = new RowGroup(this.schema, this.codec)
    this.writing = this.emit(MAGIC)
    this.writing.catch(() => {})
  }

  /** Throws `digits_lost` when a decimal has no exact DECIMAL(38,8). */
  write(batch: KlineBatch): Promise<void> {
    return this.filler.add(batch)
  }

  async end(): Promise<void> {
    await this.filler.end()
    await this.writing
    // A file without rows has an empty row group, because hyparquet-writer writes no valid list without elements.
    if (this.group.rows > 0 || this.groups.length === 0) await this.writeGroup(this.group)
    await this.emit(this.footer())
    for (const column of this.columns) column.release?.()
  }

  /** Passes the filled pages on when those before are compressed: no more than two of each column are in memory. */
  private async endPages(rows: number): Promise<void> {
    await this.writing
    const { columns, group } = this
    const pages = columns.map(column => column.takePage(rows))
    const isLast = group.rows + rows === ROWS_PER_GROUP
    const compressed = group.add(pages, rows)
    this.writing = isLast ? this.writeGroup(group, compressed) : compressed
    // The next call reports a failure.
    this.writing.catch(() => {})
    if (isLast) this.group = new RowGroup(this.schema, this.codec)
  }

  /** Writes a row group when its last pages are compressed. Its dictionaries are taken at once: the next ones begin. */
  private async writeGroup(group: RowGroup, compressed?: Promise<void>): Promise<void> {
    const dictionaries = this.columns.map(column => column.takeDictionary?.())
    await compressed
    this.groups.push(await group.write(this.offset, dictionaries, bytes => this.emit(bytes)))
  }

  private footer(): Uint8Array {
    const { schema, groups, options } = this
    const { metadata, rowFormat, fingerprints } = options
    const writer = new ByteWriter()
    const rows = groups.reduce((sum, group) => sum + group.num_rows, 0n)
    const details = { compression: rowFormat.compression, ...describeFingerprints(fingerprints?.()) }
    const footer = {
      version: 1,
      schema: [{ name: 'schema', num_children: schema.length }, ...schema],
      num_rows: rows,
      row_groups: groups,
      key_value_metadata: [{ key: METADATA_KEY, value: metadataText(metadata, details) }],
      created_by: createdBy(metadata.version),
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
