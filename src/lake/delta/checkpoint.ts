import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeLakeFile } from '../root/files.js'
import { type Action, PROTOCOL } from './actions.js'
import { encodeCheckpoint } from './checkpoint-file.js'
import { checkpointPath, type DeltaLog, LAST_CHECKPOINT } from './log.js'

/** Versions from one checkpoint to the next. */
const INTERVAL = 10

/**
 * Writes a checkpoint, when the last one is ten versions old: readers then read it instead of all entries before it. `beforePlacing` is
 * called before each file is put in its place.
 */
export async function writeCheckpointIfDue(root: string, log: DeltaLog, beforePlacing: () => void): Promise<void> {
  const { version, checkpoint = 0 } = log
  if (version < checkpoint + INTERVAL) return
  const actions = listActions(root, log)
  await writeLakeFile(root, checkpointPath(version), await encodeCheckpoint(actions), beforePlacing)
  const last = Buffer.from(JSON.stringify({ version, size: actions.length }))
  await writeLakeFile(root, LAST_CHECKPOINT, last, beforePlacing)
}

/** What a table is, without its history. Removed files stay as long as they are on the disk, so that `vacuum` knows their age. */
function listActions(root: string, { metaData, live, removed }: DeltaLog): Action[] {
  const left = [...removed].filter(([path]) => existsSync(join(root, path)))
  return [
    { protocol: PROTOCOL },
    { metaData },
    ...[...live.values()].map(add => ({ add: { ...add, dataChange: false } })),
    ...left.map(([, remove]) => ({ remove: { ...remove, dataChange: false } })),
  ]
}
