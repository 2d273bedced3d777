import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errnoCode } from '../../fs/errno.js'
import { versionDigits } from '../layout.js'
import { LOG_FOLDER } from './actions.js'

/** Names the newest checkpoint, so that readers need not list the folder. */
export const LAST_CHECKPOINT = `${LOG_FOLDER}/_last_checkpoint`

const LOG_FILE = /^(\d{20})\.(json|checkpoint\.parquet)$/

/** The path of a version's entry in the log, relative to the table. */
export function commitPath(version: number): string {
  return `${LOG_FOLDER}/${versionDigits(version)}.json`
}

/** The path of a version's checkpoint, relative to the table. */
export function checkpointPath(version: number): string {
  return `${LOG_FOLDER}/${versionDigits(version)}.checkpoint.parquet`
}

/** The versions that have an entry, and those that have a checkpoint, in order. */
export interface LogFiles {
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
