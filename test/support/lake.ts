import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportLake, type LakeRequest } from '../../src/index.js'
import { dryRunLake } from '../../src/lake/plan.js'
import { downloadSetup } from './download-setup.js'
import { filesBelow } from './files-below.js'
import { snapshot } from './snapshot.js'
import { PRESENT, SYMBOLS } from './synthetic-tree.js'

/** The service of the synthetic tree and an empty folder for a lake of its two series. */
export async function lakeSetup() {
  const { request, folder, ...rest } = await downloadSetup()
  return { ...rest, folder, request, ...lakeIn(folder, request) }
}

/** The folder `lake` in a folder, and its updates by requests like this one. */
function lakeIn(folder: string, request: Awaited<ReturnType<typeof downloadSetup>>['request']) {
  const lake = join(folder, 'lake')
  const given = { ...request, symbols: [...SYMBOLS], now: PRESENT, output: lake }
  const update = (options: Partial<LakeRequest> = {}) => exportLake({ ...given, ...options })
  const dryRun = (options: Partial<LakeRequest> = {}) => dryRunLake({ ...given, ...options })
  /** Reads a file of the lake. */
  const read = (path: string) => readFileSync(join(lake, path))
  const write = (path: string, content: string | Buffer) => writeFileSync(join(lake, path), content)
  return { lake, update, dryRun, read, write, files: () => filesBelow(lake) }
}

/** The path of the only part of a series. */
export function onlyPart(symbol: string, interval = '15m'): string {
  return `symbol=${symbol}/interval=${interval}/part-0.parquet`
}

/** The files of a lake with their times, to compare before and after. A lock comes and goes, so the times of folders do not count. */
export function fileSnapshot(lake: string): Record<string, unknown> {
  const entries = snapshot(lake)
  return Object.fromEntries(filesBelow(lake).map(name => [name, entries[name]]))
}
