import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { FileMetadata } from '../../export/formats/exporter.js'
import { OutputFile } from '../../export/output/file.js'
import type { RowFormat } from '../../export/row-format.js'
import { TargetWriter, type WrittenFile } from '../../export/target-writer.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { SeriesLabel } from '../../klines/series.js'
import type { LakePart } from '../manifest.js'
import { type FileContent, versionText } from './file-version.js'
import { HashedOutput } from './hashed-output.js'

/** What all parts of a run are written with. */
export interface PartOptions {
  readonly root: string
  /** The name of new parts. */
  readonly partFile: string
  readonly rowFormat: RowFormat
  readonly metadata: Pick<FileMetadata, 'range' | 'source'>
  readonly signal?: AbortSignal | undefined
}

/** A part in its place; without `file` when it had the same bytes already. */
export interface PlacedPart {
  readonly part: LakePart
  readonly file: WrittenFile | undefined
}

/** Where a part with the wanted content is. */
export type PresentPart = Pick<LakePart, 'path' | 'version'>

/** Writes one part beside its place, then puts it there by one rename. */
export class PartWriter {
  private readonly writer: TargetWriter
  private output: HashedOutput | undefined
  private rows = 0
  private firstOpenTime = 0
  private lastOpenTime = 0

  private readonly path: string

  /** `folder`: relative to the lake. */
  constructor(
    readonly folder: string,
    series: SeriesLabel,
    private readonly windows: readonly string[],
    private readonly options: PartOptions,
  ) {
    this.path = `${folder}/${options.partFile}`
    const target = { path: join(options.root, this.path), format: 'parquet', gzip: false, series: [series] } as const
    const sink = async () => {
      this.output = new HashedOutput(await OutputFile.create(target.path, { force: true, mkdir: true }))
      return this.output
    }
    const { rowFormat, metadata, signal } = options
    this.writer = new TargetWriter(target, { rowFormat, metadata }, { force: true, mkdir: true, signal, sink })
  }

  /** Adds rows in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (this.rows === 0) this.firstOpenTime = batch.openTime(0)
    this.rows += batch.length
    this.lastOpenTime = batch.openTime(batch.length - 1)
    await this.writer.write(batch)
  }

  /** Puts the part in its place, unless `findSame` finds one with the same content. `beforeCommit` runs before the rename. */
  async place(
    findSame: (folder: string, content: FileContent) => PresentPart | undefined,
    beforeCommit: () => Promise<void>,
  ): Promise<PlacedPart> {
    await this.writer.finish()
    const { path, windows, rows, firstOpenTime, lastOpenTime } = this
    const output = this.output as HashedOutput
    const content = { size: output.bytes, sha256: output.digest() }
    const facts = { rows, firstOpenTime, lastOpenTime, windows }
    const same = findSame(this.folder, content)
    if (same) {
      await this.writer.discard()
      return { part: { path: same.path, ...content, version: same.version, ...facts }, file: undefined }
    }
    await beforeCommit()
    const [file] = await TargetWriter.commit([this.writer])
    const version = versionText(lstatSync(join(this.options.root, path)))
    return { part: { path, ...content, version, ...facts }, file }
  }

  /** Leaves the part as it was. Never throws. */
  discard(): Promise<void> {
    return this.writer.discard()
  }
}
