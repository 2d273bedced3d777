import { seriesName } from '../../klines/series.js'
import { encodeManifest, isSameManifest, type LakeManifest, type LakeSeries, MANIFEST_FILE } from '../manifest.js'
import { writeLakeFile } from './lake-file.js'
import { lakeReadme, README_FILE } from './readme.js'
import { lakeViews, VIEWS_FILE } from './views.js'

/** The files in the root of a lake: the manifest, and what is for its readers. Each is written when it has changed. */
export class RootFiles {
  /** `latest`: the manifest on the disk. `beforePlacing` is called before each file is put in its place. */
  constructor(
    private readonly root: string,
    private readonly lake: Omit<LakeManifest, 'series'>,
    private latest: LakeManifest | undefined,
    private readonly beforePlacing: () => void,
  ) {}

  /** The manifest comes last. `live`: the parts of the table, if a log names them. */
  async write(series: readonly LakeSeries[], live?: readonly string[]): Promise<void> {
    const { root, lake, beforePlacing } = this
    await writeLakeFile(root, VIEWS_FILE, lakeViews(root, lake.options, live), beforePlacing)
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
