import { type BigIntStats, statSync } from 'node:fs'
import type { DownloadRequest } from '../download/download.js'
import { openMirror } from '../download/sources/open-source.js'
import { type DryRunReport, dryRun } from '../export/dry-run.js'
import { type ExportRequest, exportTo } from '../export/export.js'
import { type MadeRequest, selectMade } from '../export/made-series.js'
import { checkOutputs } from '../export/output-spec.js'
import type { WriteOptions } from '../export/write.js'
import { readWrittenFile } from '../export/written-file.js'
import { describeErrno } from '../fs/errno.js'
import { fileId } from '../fs/file-id.js'
import { toSourceName } from '../http/base-url.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { quoteWord } from '../klines/text.js'
import type { LakeRequest } from '../lake/export-lake.js'
import type { RunContext } from './base-command.js'
import type { LocationFlags } from './flags/service.js'
import type { RunResult } from './reports/run-text.js'
import { offlineAddress } from './service-address.js'

/** What all updates of a run have in common. */
export type CommonRequest = Omit<DownloadRequest, 'symbols' | 'intervals'> & { readonly threads?: number | undefined }

/** Something that was checked and can be made current. */
export interface UpdateTarget {
  /** Undefined for the mirror. */
  readonly path: string | undefined
  /** Base address of its candles. */
  readonly source: string
  readonly run: (request: CommonRequest) => Promise<RunResult>
  readonly plan: (request: CommonRequest) => Promise<DryRunReport>
}

/** What a path was found to be. */
type FoundTarget = Pick<UpdateTarget, 'run' | 'plan'> & { readonly source: string | undefined }

/**
 * What paths name, each once; nothing is downloaded or written. Throws one error for all that cannot be used: those of files and lakes, and
 * `bad_option` for a base address that nobody has named.
 */
export async function checkTargets(
  paths: readonly string[],
  flags: LocationFlags,
  context: RunContext,
): Promise<UpdateTarget[]> {
  const targets = new Map<string, UpdateTarget>()
  const errors: KlinesError[] = []
  for (const path of paths) {
    try {
      const stats = statPath(path)
      if (targets.has(fileId(stats))) continue
      const found = stats.isDirectory() ? await findLake(path) : await findFile(path)
      const source = checkSource(path, found.source, flags, context)
      openMirror({ mirror: flags.mirror, baseUrl: offlineAddress(source) }).upkeep.checkBase(source)
      targets.set(fileId(stats), { ...found, path, source })
    } catch (error) {
      if (!isKlinesError(error)) throw error
      errors.push(error)
    }
  }
  if (errors.length > 0) throw joinErrors(errors, paths.length)
  return [...targets.values()]
}

function statPath(path: string): BigIntStats {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats !== undefined) return stats
    throw new KlinesError('bad_output', `${path} is not there. Expected a lake, or a Parquet or Arrow file of klines.`)
  } catch (error) {
    if (isKlinesError(error)) throw error
    throw new KlinesError('bad_output', `${path} cannot be read: ${describeErrno(error)}.`, { cause: error })
  }
}

async function findFile(path: string): Promise<FoundTarget> {
  const { source, made, version, ...options } = await readWrittenFile(path).catch(async error => {
    throw (await ofLake(path)) ?? error
  })
  await checkOutputs([{ path }], { force: true })
  type Request = ExportRequest & MadeRequest & Pick<WriteOptions, 'updates'> & { readonly output: string }
  const toRequest = (request: object): Request => {
    return { ...request, ...options, ...selectMade(made), output: path, force: true, updates: version }
  }
  return { source, run: request => exportTo(toRequest(request)), plan: request => dryRun(toRequest(request)) }
}

/** The error for a file of a lake; undefined for any other file. */
async function ofLake(path: string): Promise<KlinesError | undefined> {
  const { findLakeOf } = await import('../lake/remembered.js')
  const lake = findLakeOf(path)
  if (lake === undefined) return undefined
  return new KlinesError('bad_output', `${path} cannot be updated: it is a file of a lake.`, {
    suggestions: [`Name the folder of the lake: klines update ${quoteWord(lake)}`],
    data: { output: path },
  })
}

async function findLake(path: string): Promise<FoundTarget> {
  const { readLake } = await import('../lake/remembered.js')
  const { source, made } = await readLake(path)
  const toRequest = (request: object): LakeRequest & MadeRequest => ({ ...request, ...selectMade(made), output: path })
  return {
    source,
    run: async request => (await import('../lake/export-lake.js')).exportLake(toRequest(request)),
    plan: async request => (await import('../lake/dry-run.js')).dryRunLake(toRequest(request)),
  }
}

/** The base address that the candles of a path come from, if requests may be sent to it. */
function checkSource(
  path: string,
  source: string | undefined,
  { 'base-url': baseUrl }: LocationFlags,
  { given }: RunContext,
): string {
  const named = given.has('base-url') ? toSourceName(offlineAddress(baseUrl)) : undefined
  if (source === undefined) {
    if (named !== undefined) return named
    throw new KlinesError('bad_option', `${path} does not say where its candles come from.`, {
      suggestions: ['Name the address with `baseUrl`.'],
    })
  }
  if (named === source) return source
  if (named !== undefined) {
    throw new KlinesError('bad_option', `${path} has candles of ${source}, and this run of ${named}.`, {
      suggestions: ['Leave `baseUrl` out, or make the file or the lake anew.'],
    })
  }
  return source
}

function joinErrors(errors: readonly KlinesError[], paths: number): KlinesError {
  const [{ code, data, cause }] = errors
  const suggestions = [...new Set(errors.flatMap(({ suggestions }) => suggestions))]
  if (paths > 1) suggestions.push('Nothing was downloaded or written: all paths are checked first.')
  return new KlinesError(code, errors.map(({ message }) => message).join('\n'), { data, cause, suggestions })
}
