import { type DownloadRequest, downloadPlan } from '../download/download.js'
import { toWarn } from '../download/events.js'
import type { ReadRequest } from '../download/read.js'
import { checkRange } from '../download/request-range.js'
import { parseSelection } from '../download/selection.js'
import type { FileMemory } from '../download/sources/cache-writer.js'
import { openMirror, openSource } from '../download/sources/open-source.js'
import { planRequest } from '../export/export-series.js'
import { outputError } from '../export/output/errors.js'
import { warnAbout } from '../export/write.js'
import { makeFolder, missingFolders, removeFolders } from '../fs/make-folder.js'
import type { WindowRef } from '../klines/series.js'
import { isRelativeRange } from '../klines/time-range.js'
import { parseThreads, type ThreadOptions } from '../threads/thread-count.js'
import { openFolder } from './folder.js'
import { type LakeLock, lockLake } from './lake-lock.js'
import { type LakeOptionsRequest, parseLakeOptions } from './options.js'
import { WindowFiles } from './parts/window-files.js'
import { checkOptions, LakePlan } from './plan.js'
import { checkRoot } from './root/files.js'
import { type LakeReport, LakeUpdate } from './update.js'

/** Which candles, and the folder of the lake. */
export interface LakeRequest
  extends ReadRequest,
    LakeOptionsRequest,
    ThreadOptions,
    Pick<DownloadRequest, 'failOnGaps' | 'fingerprint'> {
  /** The folder; it is made if it is missing. */
  readonly output: string
  /** Remove the parts of series that are not requested. */
  readonly prune?: boolean | undefined
  /** Write all parts again, also with other options than the lake has. */
  readonly force?: boolean | undefined
}

/**
 * Brings a lake up to date: a folder of Parquet files, `symbol=BTCUSDT/interval=1h/part-0.parquet`, that engines read as one table.
 * Downloads what is missing or can still change (unless `offline`), and writes the parts whose windows have changed, each by one
 * rename; without a change it writes nothing. No part is replaced before every window is there and valid. Throws what `exportKlines`
 * throws, `bad_output` for a folder that is no lake or has other options, and `lake_busy` when another process writes it.
 *
 * @example
 * const { lake } = await exportLake({ symbols: 'all', intervals: ['1d'], output: 'lake', numbers: 'decimal' })
 */
export async function exportLake(request: LakeRequest): Promise<LakeReport> {
  const { output: root } = request
  const warn = toWarn(request)
  const { selection, options, rowFormat, force, ...rest } = parseLakeRequest(request)
  const { threads, moves } = rest
  const folders = missingFolders(root)
  makeRoot(root)
  let lock: LakeLock | undefined
  const memory: FileMemory = new Map()
  try {
    lock = await lockLake(root)
    const folder = openFolder(root, warn)
    const source = await openSource(request, { memory })
    try {
      checkOptions(folder, source.info.baseUrl, options, force)
      const { plan, series } = await planRequest(request, source, selection)
      const windows = new WindowFiles(openMirror(request), memory, force ? undefined : folder.manifest)
      const updateOptions = { ...request, threads, force, moves, checkLock: lock.check }
      const job = { source, plan, options, rowFormat, series, windows }
      const lake = new LakePlan(folder, job, updateOptions)
      const findCounted = (window: WindowRef) => windows.counted(window)
      // Only the main thread makes requests.
      const report = source.info.offline
        ? undefined
        : await downloadPlan(source, plan, { ...request, forExport: true, findCounted })
      const updated = await new LakeUpdate(lake, report, updateOptions).run()
      warnAbout(updated, updated.files, warn)
      return updated
    } finally {
      await source.close()
    }
  } finally {
    await lock?.release()
    // As far as they are empty: a run that failed before its first part leaves nothing.
    removeFolders(folders)
  }
}

/** Checks a request and the lake that is there. Throws what `exportLake` throws about both. */
export function parseLakeRequest(request: LakeRequest, warn?: (warning: string) => void) {
  const { output: root, force = false } = request
  const selection = parseSelection(request)
  checkRange(request)
  checkRoot(root)
  const folder = openFolder(root, warn)
  const { options, rowFormat } = parseLakeOptions(request, folder.manifest?.options)
  const threads = parseThreads(request)
  const moves = isRelativeRange(request)
  return { selection, folder, options, rowFormat, threads, force, moves }
}

/** Throws `bad_output` or `output_unwritable`. */
function makeRoot(root: string): void {
  try {
    makeFolder(root)
  } catch (error) {
    throw outputError(error, root)
  }
}
