import { statSync } from 'node:fs'
import { join } from 'node:path'
import { outputError } from '../../export/output/errors.js'
import { isKlinesError, KlinesError } from '../../klines/errors.js'
import type { SeriesLabel } from '../../klines/series.js'
import { VERSION } from '../../version.js'
import { parsePartPath } from '../layout.js'
import type { LakePart } from '../manifest.js'
import type { LakeOptions } from '../options.js'
import { placeLakeFile } from '../root/files.js'
import { type Action, type AddAction, type DeltaLog, PROTOCOL, type RemoveAction } from './actions.js'
import { commitPath } from './log.js'
import { describeTable, isSameTable } from './meta-data.js'

/** What the next version of a table is. */
interface NextVersion {
  readonly options: LakeOptions
  readonly source: string | null
  /** The parts that it must have; those of the present version are not added again. */
  readonly parts: readonly LakePart[]
  /** The paths of the parts that it must not have any more. */
  readonly gone: readonly string[]
  /** ms UTC. */
  readonly now: number
  /** Called before the version becomes visible: throws when it must not. */
  readonly beforeCommit: () => void
}

/**
 * Adds all changes to the log as one version; returns it, or the present one when there is no change. The parts must be on the disk.
 * Throws `lake_busy` when another program made that version meanwhile, and `output_unwritable`.
 */
export async function commitVersion(root: string, log: DeltaLog | undefined, next: NextVersion): Promise<number> {
  const changes = findChanges(root, log, next)
  if (log && changes.length === 0) return log.version
  const version = nextVersion(log)
  const operationParameters = { mode: log ? 'Overwrite' : 'ErrorIfExists' }
  const info = { timestamp: next.now, operation: 'WRITE', operationParameters, engineInfo: `klines ${VERSION}` }
  const actions: Action[] = [{ commitInfo: info }, ...(log ? [] : [{ protocol: PROTOCOL }]), ...changes]
  await writeEntry(root, version, actions, next.beforeCommit)
  return version
}

/** The version that the next change makes. */
export function nextVersion(log: DeltaLog | undefined): number {
  return log === undefined ? 0 : log.version + 1
}

function findChanges(root: string, log: DeltaLog | undefined, next: NextVersion): Action[] {
  const { options, source, parts, gone, now } = next
  const metaData = describeTable(options, source, log?.metaData, now)
  return [
    ...(log && isSameTable(log.metaData, metaData) ? [] : [{ metaData }]),
    ...gone.flatMap(path => log?.live.get(path) ?? []).map(add => ({ remove: toRemove(add, now) })),
    ...parts.filter(({ path }) => !log?.live.has(path)).map(part => ({ add: toAdd(root, part, options) })),
  ]
}

function toAdd(root: string, part: LakePart, { columns }: LakeOptions): AddAction {
  const { path, size, rows, firstOpenTime, lastOpenTime } = part
  // Rows are sorted by their open time, and no value is null.
  const times = (time: number) => (columns.includes('open_time') ? { open_time: new Date(time).toISOString() } : {})
  const stats = {
    numRecords: rows,
    minValues: times(firstOpenTime),
    maxValues: times(lastOpenTime),
    nullCount: Object.fromEntries(columns.map(name => [name, 0])),
  }
  const modificationTime = Math.floor(statSync(join(root, path)).mtimeMs)
  const partitionValues = findValues(path)
  return {
    path: encodeURI(path),
    partitionValues,
    size,
    modificationTime,
    dataChange: true,
    stats: JSON.stringify(stats),
  }
}

/** The values of the folders in a path. Numbers have no leading zeros there, and 1m is `1m`. */
function findValues(path: string): Record<string, string> {
  const folders = path.split('/').slice(0, -1)
  const values = Object.fromEntries(folders.map(folder => folder.split('=')))
  const { interval } = parsePartPath(path) as SeriesLabel
  return { ...values, interval, ...(values.month && { month: String(Number(values.month)) }) }
}

function toRemove({ path, partitionValues, size }: AddAction, now: number): RemoveAction {
  return { path, deletionTimestamp: now, dataChange: true, extendedFileMetadata: true, partitionValues, size }
}

/** Writes an entry of the log at once. Of several writers one makes a version: a file that is there is never replaced. */
async function writeEntry(
  root: string,
  version: number,
  actions: readonly Action[],
  beforeCommit: () => void,
): Promise<void> {
  const bytes = Buffer.from(actions.map(action => `${JSON.stringify(action)}\n`).join(''))
  try {
    await placeLakeFile(root, commitPath(version), bytes, { mkdir: true }, beforeCommit)
  } catch (error) {
    if (isKlinesError(error, 'output_exists')) throw overtaken(root, version, error)
    throw outputError(error, join(root, commitPath(version)))
  }
}

/** The error for a version that another program made since the log was read. */
export function overtaken(root: string, version: number, cause?: unknown): KlinesError {
  const message = `Another program has made version ${version} of ${root} meanwhile.`
  return new KlinesError('lake_busy', message, { cause, suggestions: ['Run the same command again.'] })
}
