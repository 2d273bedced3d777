import { statSync } from 'node:fs'
import { join } from 'node:path'
import { commitOutputs } from '../../export/output/commit.js'
import { type FileOptions, type FilePlace, OutputFile, prepareFile } from '../../export/output/file.js'
import { refuseLinks } from '../../fs/links.js'
import { readFile } from '../../fs/read-file.js'
import { KlinesError } from '../../klines/errors.js'
import { seriesName } from '../../klines/series.js'
import { formatOfName } from '../../options/formats.js'
import { encodeManifest, isSameManifest, type LakeManifest, type LakeSeries, MANIFEST_FILE } from '../manifest.js'
import { lakeReadme, README_FILE } from './readme.js'
import { lakeViews, VIEWS_FILE } from './views.js'

/** Checks the name of a lake's folder; that of a folder that is there may look like a file's. Throws `bad_output`. */
export function checkRoot(root: string): void {
  const advice = { suggestions: ['Name the folder with `output`, such as lake.'] }
  if (root === '') throw new KlinesError('bad_output', 'The name of the lake is empty. Expected a folder.', advice)
  if (root === '-') throw new KlinesError('bad_output', 'A lake is a folder; it cannot go to stdout.', advice)
  const format = formatOfName(root) ?? 'parquet'
  if (format !== 'parquet' && !statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    const message = `${root} is the name of a ${format} file, and a lake is a folder of Parquet files.`
    throw new KlinesError('bad_output', message, advice)
  }
  const [placeholder] = /\{[^{}]*\}/.exec(root) ?? []
  if (placeholder === undefined) return
  const message = `${root} has the placeholder ${placeholder}, but the folders of a lake follow from its layout. Expected the name of its root alone.`
  throw new KlinesError('bad_output', message, advice)
}

/** Prepares a file of a lake. Throws `linked_path` where its place is through a link, and what `prepareFile` throws. */
export function prepareLakeFile(root: string, path: string, options: FileOptions): Promise<FilePlace> {
  refuseLinks(root, path)
  return prepareFile(join(root, path), options)
}

/**
 * Writes a file in the root of a lake by one rename, unless it has these bytes already. `beforePlacing` is called right before. Throws
 * what that throws, `linked_path` where its place is through a link, and `output_unwritable`.
 */
async function writeLakeFile(root: string, name: string, bytes: Buffer, beforePlacing: () => void): Promise<void> {
  if (hasBytes(join(root, name), bytes)) return
  const file = await OutputFile.open(await prepareLakeFile(root, name, { force: true }))
  try {
    await file.write(bytes)
    await file.finish()
    beforePlacing()
    await commitOutputs([file])
  } catch (error) {
    await file.discard()
    throw error
  }
}

function hasBytes(path: string, bytes: Buffer): boolean {
  try {
    const file = readFile(path, bytes.length)
    return file.state === 'file' && file.bytes.equals(bytes)
  } catch {
    return false
  }
}

/** The files in the root of a lake: the manifest, and what is for its readers. Each is written when it has changed. */
export class RootFiles {
  /** `latest`: the manifest on the disk. `beforePlacing` is called before each file is put in its place. */
  constructor(
    private readonly root: string,
    private readonly lake: Omit<LakeManifest, 'series'>,
    private latest: LakeManifest | undefined,
    private readonly beforePlacing: () => void,
  ) {}

  /** The manifest comes last. */
  async write(series: readonly LakeSeries[]): Promise<void> {
    const { root, lake, beforePlacing } = this
    await writeLakeFile(root, VIEWS_FILE, lakeViews(root, lake.options), beforePlacing)
    await writeLakeFile(root, README_FILE, lakeReadme(lake.options), beforePlacing)
    await this.writeManifest(series)
  }

  async writeManifest(series: readonly LakeSeries[]): Promise<void> {
    const sorted = series.toSorted((a, b) => (seriesName(a) < seriesName(b) ? -1 : 1))
    const manifest = { ...this.lake, series: sorted }
    if (this.latest && isSameManifest(this.latest, manifest)) return
    await writeLakeFile(this.root, MANIFEST_FILE, encodeManifest(manifest), this.beforePlacing)
    this.latest = manifest
  }
}
