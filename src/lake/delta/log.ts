import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeErrno, errnoCode } from '../../fs/errno.js'
import { KlinesError } from '../../klines/errors.js'
import { versionDigits } from '../layout.js'
import type { LakeManifest } from '../manifest.js'
import { type Action, type DeltaLog, LOG_FOLDER, TableState } from './actions.js'
import { readCheckpoint } from './checkpoint.js'
import { readLogFile } from './log-file.js'
import { parseTable } from './meta-data.js'

const LOG_FILE = /^(\d{20})\.(json|checkpoint\.parquet)$/

/** The path of a version's entry in the log, relative to the table. */
export function commitPath(version: number): string {
  return `${LOG_FOLDER}/${versionDigits(version)}.json`
}

/** The versions that have an entry, and those that have a checkpoint, in order. */
interface LogFiles {
  readonly commits: readonly number[]
  readonly checkpoints: readonly number[]
}

/** Lists a log. Throws what the file system throws. */
export function listLog(root: string): LogFiles {
  const names = listNames(join(root, LOG_FOLDER)).flatMap(name => [LOG_FILE.exec(name) ?? []])
  const find = (kind: string) =>
    names.flatMap(([, digits, ending]) => (ending === kind ? Number(digits) : [])).sort((a, b) => a - b)
  return { commits: find('json'), checkpoints: find('checkpoint.parquet') }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Reads the log of a table; undefined when there is none. Throws `bad_output` for one that cannot be read, or is not of klines. */
export async function readLog(root: string): Promise<DeltaLog | undefined> {
  try {
    const files = listLog(root)
    if (files.commits.length + files.checkpoints.length === 0) return undefined
    const { state, checkpoint } = await readNewestCheckpoint(root, files)
    const newer = files.commits.filter(version => checkpoint === undefined || version > checkpoint)
    const first = checkpoint === undefined ? 0 : checkpoint + 1
    for (const [index, version] of newer.entries()) {
      if (version !== first + index) throw new Error(`version ${first + index} is missing`)
      for (const action of readCommit(root, version)) state.apply(action)
    }
    const { metaData, live, removed } = state
    const version = newer.at(-1) ?? checkpoint
    if (version === undefined || metaData === undefined) throw new Error('it does not say what the table is')
    return { version, checkpoint, metaData, live, removed }
  } catch (cause) {
    throw unusable(root, cause)
  }
}

/** The actions of one version. Throws when the file cannot be read, or is not of this form. */
export function readCommit(root: string, version: number): Action[] {
  const lines = readLogFile(root, commitPath(version)).toString().split('\n')
  return lines.filter(line => line.trim() !== '').map(line => JSON.parse(line))
}

/** The state at the newest checkpoint that can be read. A checkpoint is only a short cut as long as the entries before it are there. */
async function readNewestCheckpoint(
  root: string,
  { checkpoints, commits }: LogFiles,
): Promise<{ state: TableState; checkpoint: number | undefined }> {
  let failure: unknown
  for (const checkpoint of checkpoints.toReversed()) {
    try {
      return { state: await readCheckpoint(root, checkpoint), checkpoint }
    } catch (error) {
      failure = error
    }
  }
  if (failure !== undefined && commits[0] !== 0) throw failure
  return { state: new TableState(), checkpoint: undefined }
}

function unusable(root: string, cause: unknown): KlinesError {
  const { code, message } = cause as NodeJS.ErrnoException
  const isUnread = typeof code === 'string' && !(cause instanceof KlinesError)
  const advice = isUnread
    ? 'Make it readable, and run the same command again.'
    : 'Name another folder with `output`, or remove the log: the next run starts a new one.'
  const reason = isUnread ? describeErrno(cause) : message
  const path = join(root, LOG_FOLDER)
  return new KlinesError('bad_output', `Cannot use the log ${path}: ${reason}.`, { cause, suggestions: [advice] })
}

/** A lake whose log says what it is. */
export interface DeltaTable extends Pick<LakeManifest, 'source' | 'options'> {
  readonly log: DeltaLog
}

/**
 * Reads the log in the folder of a lake; undefined when there is none. The manifest of plain files (`isPlain`) does not count against
 * a log of klines: a run was killed while it turned one into the other. The log of another program beside plain files is left alone;
 * elsewhere it throws `bad_output`, as does a log that cannot be read.
 */
export async function readTable(root: string, isPlain: boolean): Promise<DeltaTable | undefined> {
  let log: DeltaLog | undefined
  try {
    log = await readLog(root)
  } catch (error) {
    if (isPlain) return undefined
    throw error
  }
  const table = log && parseTable(log.metaData)
  if (log && table) return { log, ...table }
  if (log === undefined || isPlain) return undefined
  throw new KlinesError('bad_output', `${root} has a Delta table that klines did not write.`, {
    suggestions: ['Name another folder with `output`.'],
  })
}
