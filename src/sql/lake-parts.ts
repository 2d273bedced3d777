import { lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describeErrno } from '../fs/errno.js'
import { KlinesError } from '../klines/errors.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import { type DeltaTable, readTable } from '../lake/delta/log.js'
import { isPlain } from '../lake/folder.js'
import { type Partition, parsePartPath } from '../lake/layout.js'
import { MANIFEST_FILE, type ManifestRead, readManifest } from '../lake/manifest.js'
import type { LakeFiles } from './database.js'
import type { Query } from './query.js'

/**
 * The parts of a lake, as its log lists those of the newest version, or else as its manifest lists them. Throws `bad_query` for a
 * folder that is not a lake, or when `query` names a series that it lacks, and `incomplete` when a part is missing or a link.
 */
export async function lakeParts(lake: string, query: Query): Promise<LakeFiles> {
  const { paths, partition } = await listParts(lake)
  if (paths.length === 0) {
    throw new KlinesError('no_candles', `The lake ${lake} has no candles.`)
  }
  const names = new Set(paths.map(path => seriesName(parsePartPath(path) as SeriesLabel)))
  for (const [symbol = '', interval = ''] of query.calls.filter(call => call.every(text => text !== undefined))) {
    const name = `${symbol} ${interval}`
    if (!names.has(name)) throw unknownSeries(lake, name, [...names])
  }
  const root = realpathSync(lake)
  const missing = paths.filter(path => !isPart(root, path))
  if (missing.length === 0) return { parts: paths.map(path => join(root, path)), partition }
  const count = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  throw new KlinesError('incomplete', `${missing[0]}${count} of the lake ${lake} is missing, or is a link.`, {
    suggestions: ['Write it again with the klines export or klines download that made the lake.'],
    data: { missing },
  })
}

/** The paths of the parts, relative to the lake. Where the manifest and the log differ, the log is right. */
async function listParts(lake: string): Promise<{ paths: readonly string[]; partition: Partition }> {
  const read = tryRead(lake)
  const table = await tryReadTable(lake, isPlain(read))
  if (table) return { paths: [...table.log.live.keys()].sort(), partition: table.options.partition }
  if (read.state !== 'read') throw notALake(lake, read)
  const { series, options } = read.manifest
  // A table whose log is gone has no version that can be read.
  const parts = options.table === undefined ? series.flatMap(({ parts }) => parts) : []
  return { paths: parts.map(({ path }) => path), partition: options.partition }
}

/** Whether a part is a file of its own below the lake: a link could lead anywhere. */
function isPart(root: string, path: string): boolean {
  const file = join(root, path)
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false
  return isFile && realpathSync(file) === file
}

function tryRead(lake: string): ManifestRead {
  try {
    return readManifest(lake)
  } catch (cause) {
    throw new KlinesError('bad_query', `Cannot read the lake ${lake}: ${describeErrno(cause)}.`, { cause })
  }
}

async function tryReadTable(lake: string, isPlain: boolean): Promise<DeltaTable | undefined> {
  try {
    return await readTable(lake, isPlain)
  } catch (cause) {
    throw new KlinesError('bad_query', (cause as Error).message, { cause })
  }
}

function notALake(lake: string, read: Exclude<ManifestRead, { state: 'read' }>): KlinesError {
  const reason = {
    missing: `it has no ${MANIFEST_FILE}`,
    newer: `its ${MANIFEST_FILE} is of a newer klines`,
    damaged: `its ${MANIFEST_FILE} is damaged`,
  }[read.state]
  const advice = {
    missing: `Make one: klines export all -i all --layout hive -o ${lake}`,
    newer: 'Update klines.',
    damaged: 'Run the klines export or klines download that made the lake again.',
  }[read.state]
  return new KlinesError('bad_query', `${lake} is not a lake that can be read: ${reason}.`, { suggestions: [advice] })
}

function unknownSeries(lake: string, name: string, names: readonly string[]): KlinesError {
  const some = names.length > 12 ? [...names.slice(0, 12), `${names.length - 12} more`] : names
  return new KlinesError('bad_query', `The lake ${lake} has no series ${name}. Expected one of ${some.join(', ')}.`)
}
