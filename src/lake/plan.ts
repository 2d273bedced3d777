import { joinNames } from '../download/errors.js'
import type { Plan } from '../download/plan.js'
import type { WindowSource } from '../download/sources/window-source.js'
import type { TallyOptions } from '../download/tally.js'
import type { PlannedSeries } from '../export/export-series.js'
import type { RowFormat } from '../export/row-format.js'
import { KlinesError } from '../klines/errors.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import type { LakeFolder } from './folder.js'
import { parsePartPath, seriesFolder } from './layout.js'
import type { LakeManifest, LakeSeries } from './manifest.js'
import { findDifference, type LakeOptions } from './options.js'
import { SeriesState } from './parts/series-state.js'
import type { WindowFiles } from './parts/window-files.js'

/** What a lake is brought up to date with. */
export interface LakeJob {
  readonly source: WindowSource
  readonly plan: Plan
  readonly options: LakeOptions
  readonly rowFormat: RowFormat
  readonly series: readonly PlannedSeries[]
  readonly windows: WindowFiles
}

export interface UpdateOptions extends Pick<TallyOptions, 'onEvent' | 'failOnGaps' | 'fingerprint'> {
  /** Threads that encode series at once, the main one included. */
  readonly threads?: number | undefined
  /** Write all parts again. */
  readonly force: boolean
  /** Whether the range moves with the present, so that each part may lose or gain rows. */
  readonly moves: boolean
  readonly prune?: boolean | undefined
  /** Throws `lake_busy` when this run does not have the lock of the lake any more. */
  readonly checkLock: () => void
  readonly signal?: AbortSignal | undefined
}

/** What a run may keep of the lake that is there. */
export class LakePlan {
  /** The manifest whose parts may stay. */
  readonly kept: LakeManifest | undefined
  /** The parts of series that are not requested, by the names of these. */
  readonly others: ReadonlyMap<string, readonly string[]>
  /** A lake that has fingerprints keeps them: a series must not have an old one. */
  private readonly fingerprint: boolean

  /** Throws `bad_output` for series that are not requested and cannot stay, and for folders that are the same one on some disks. */
  constructor(
    readonly folder: LakeFolder,
    readonly job: LakeJob,
    private readonly options: Pick<UpdateOptions, 'force' | 'prune' | 'fingerprint' | 'moves'>,
  ) {
    const { baseUrl } = job.source.info
    this.others = findOthers(folder, new Set(job.series.map(seriesName)))
    checkFolderNames(folder, job.series)
    if (!options.prune) checkOthers(folder, this.others, baseUrl, job.options)
    if (isCompatible(folder, baseUrl, job.options) && !options.force) this.kept = folder.manifest
    const hasFingerprints = folder.manifest?.series.some(({ fingerprint }) => fingerprint !== undefined)
    this.fingerprint = options.fingerprint || hasFingerprints === true
  }

  /** A series as it is by now. */
  stateOf(planned: PlannedSeries): SeriesState {
    const { folder, kept, job, options, fingerprint } = this
    return new SeriesState(folder.root, planned, kept, job.windows, { fingerprint, moves: options.moves })
  }

  /** What the manifest says about series that are not requested and stay. */
  keptSeries(): LakeSeries[] {
    if (this.options.prune) return []
    return this.folder.manifest?.series.filter(series => this.others.has(seriesName(series))) ?? []
  }
}

/** Throws `bad_output` when a lake has another source or other options than a request, unless `force` rewrites it. */
export function checkOptions(
  { root, manifest }: LakeFolder,
  source: string | undefined,
  options: LakeOptions,
  force: boolean,
): void {
  if (manifest === undefined || force) return
  if (manifest.source !== null && source !== undefined && manifest.source !== source) {
    throw otherOptions(`${root} has candles of ${manifest.source}, and this run of ${source}.`)
  }
  const difference = findDifference(manifest.options, options)
  if (difference === undefined) return
  throw otherOptions(`${root} was written with ${difference.lake}, and this run has ${difference.request}.`)
}

function otherOptions(message: string): KlinesError {
  const suggestions = [
    'Use the options of the lake, name another folder with `output`, or rewrite all of it with `force: true`.',
  ]
  return new KlinesError('bad_output', message, { suggestions })
}

/** Whether the parts of a lake may stay: they have the source and the options of a request. */
function isCompatible({ manifest }: LakeFolder, source: string | undefined, options: LakeOptions): boolean {
  if (manifest === undefined || findDifference(manifest.options, options)) return false
  return manifest.source === null || source === undefined || manifest.source === source
}

/** The parts of a lake whose series are not in a set of names (`BTCUSDT 1h`), by name. */
function findOthers({ parts }: LakeFolder, requested: ReadonlySet<string>): Map<string, string[]> {
  const others = new Map<string, string[]>()
  for (const path of parts) {
    const label = parsePartPath(path)
    const name = label && seriesName(label)
    if (name && !requested.has(name)) others.set(name, [...(others.get(name) ?? []), path])
  }
  return others
}

/** Throws `bad_output` for series that a run does not write, when they cannot stay beside those that it writes. */
function checkOthers(
  folder: LakeFolder,
  others: ReadonlyMap<string, unknown>,
  source: string | undefined,
  options: LakeOptions,
): void {
  const reason = findConflict(folder, source, options)
  if (others.size === 0 || reason === undefined) return
  const message = `${folder.root} also has ${joinNames([...others.keys()])}, which this run does not write: ${reason}.`
  throw new KlinesError('bad_output', message, {
    suggestions: ['Request them too, or remove them with `prune: true`.'],
  })
}

/**
 * Throws `bad_output` for a new series whose folder differs from that of another series of the lake only in upper and lower case, such
 * as 15M (months) beside 15m: on the disks of macOS and Windows it is the same folder.
 */
function checkFolderNames({ root, parts }: LakeFolder, requested: readonly SeriesLabel[]): void {
  const labels = parts.flatMap(path => parsePartPath(path) ?? [])
  const folders = new Set(labels.map(seriesFolder))
  const taken = new Map(labels.map(label => [seriesFolder(label).toLowerCase(), label]))
  for (const series of requested) {
    const folder = seriesFolder(series)
    const other = taken.get(folder.toLowerCase())
    if (other === undefined || folders.has(folder)) continue
    const message = `${root} has ${seriesName(other)}, and the folder ${folder} of this run is the same one on the disks of macOS and Windows.`
    throw new KlinesError('bad_output', message, { suggestions: ['Name another folder with `output`.'] })
  }
}

function findConflict(folder: LakeFolder, source: string | undefined, options: LakeOptions): string | undefined {
  if (folder.manifest === undefined) return 'without a manifest, nothing says which options their parts have'
  if (!isCompatible(folder, source, options)) return 'their parts would keep the old options'
  return undefined
}
