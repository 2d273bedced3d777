import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { TargetFile, type WrittenFile } from '../../export/target-file.js'
import type { SeriesLabel } from '../../klines/series.js'
import type { Compression } from '../../options/output-options.js'
import type { LakePart } from '../manifest.js'
import { removeEmptyFolders } from '../removal.js'
import { createLakeFile } from '../root/lake-file.js'
import { type FileContent, versionText } from './file-version.js'
import { HashedOutput } from './hashed-output.js'
import type { PartRows, PartStart } from './part-encoder.js'

/** What all parts of a run are written with. */
export interface PartOptions {
  readonly root: string
  /** The name of new parts. */
  readonly partFile: string
  readonly compression: Compression
}

/** A part in its place; without `file` when it had the same bytes already. */
export interface PlacedPart {
  readonly part: LakePart
  readonly file: WrittenFile | undefined
}

/** Where a part with the wanted content is. */
export type PresentPart = Pick<LakePart, 'path' | 'version'>

/** Writes the bytes of one part beside its place, then puts it there by one rename. */
export class PartWriter {
  private readonly file: TargetFile
  private output: HashedOutput | undefined
  private rows: PartRows | undefined

  private readonly path: string

  constructor(
    private readonly start: PartStart,
    series: SeriesLabel,
    private readonly options: PartOptions,
  ) {
    this.path = `${start.folder}/${options.partFile}`
    const target = { path: join(options.root, this.path), format: 'parquet', gzip: false, series: [series] } as const
    const sink = async () => {
      this.output = new HashedOutput(await createLakeFile(options.root, this.path, { force: true, mkdir: true }))
      return this.output
    }
    const { compression } = options
    this.file = new TargetFile(target, { compression, force: true, mkdir: true, sink })
  }

  /** Adds the next bytes. */
  write(bytes: Uint8Array): Promise<void> {
    return this.file.write(bytes)
  }

  /** To be called once, after the last bytes: the part is on the disk then, but not in its place. */
  async finish(rows: PartRows): Promise<void> {
    await this.file.finish(rows.counts)
    this.rows = rows
  }

  /** Puts the part in its place, unless `findSame` finds one with the same content. `beforeCommit` runs before the rename. */
  async place(
    findSame: (folder: string, content: FileContent) => PresentPart | undefined,
    beforeCommit: () => Promise<void>,
  ): Promise<PlacedPart> {
    const { path, start, output, rows } = this
    if (!output || !rows) throw new Error(`${path} is not complete.`)
    const { counts, ...times } = rows
    const content = { size: output.bytes, sha256: output.digest() }
    const facts = { rows: counts.rows, ...times, windows: start.windows }
    const same = findSame(start.folder, content)
    if (same) {
      await this.discard()
      return { part: { path: same.path, ...content, version: same.version, ...facts }, file: undefined }
    }
    await beforeCommit()
    const [file] = await TargetFile.commit([this.file])
    const version = versionText(lstatSync(join(this.options.root, path)))
    return { part: { path, ...content, version, ...facts }, file }
  }

  /** Leaves the part as it was. Never throws. */
  async discard(): Promise<void> {
    await this.file.discard()
    removeEmptyFolders(this.options.root, this.path)
  }
}
