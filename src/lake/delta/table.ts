import { KlinesError } from '../../klines/errors.js'
import type { LakeManifest } from '../manifest.js'
import { type DeltaLog, readLog } from './log.js'
import { parseTable } from './meta-data.js'

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
