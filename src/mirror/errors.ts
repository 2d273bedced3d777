import { KlinesError } from '../candles/errors.js'
import { type WindowRef, windowName } from '../candles/series.js'
import { describeErrno, errnoCode } from '../fs/errno.js'

const ROOM =
  'Make room, or name a folder on another disk with --mirror; finished files stay, the next run goes on from them.'
const DISK = 'Check the disk. A file that it cannot read any more is downloaded again once it is removed.'
const ADVICE: Record<string, string> = { ENOSPC: ROOM, EDQUOT: ROOM, EIO: DISK }

/** A file system error as `mirror_unusable`; a `KlinesError` stays as it is. `path`: the file, relative to the root. */
export function toMirrorError(error: unknown, verb: 'read' | 'write', root: string, path?: string): KlinesError {
  if (error instanceof KlinesError) return error
  const code = errnoCode(error)
  const advice = ADVICE[code] ?? 'Name another folder with --mirror.'
  const name = path === undefined ? `the mirror ${root}` : `${path} of the mirror ${root}`
  return new KlinesError('mirror_unusable', `Cannot ${verb} ${name}: ${describeErrno(error)}.`, {
    cause: error,
    suggestions: [advice],
    data: { mirror: root, errno: code, path },
  })
}

/** A window that could not be downloaded or read. `reason` does not repeat its name. */
export interface WindowFailure {
  readonly window: WindowRef
  readonly status: 'failed'
  readonly reason: string
  /** The source has no such file. */
  readonly isAbsent?: boolean
  /** The source did not answer in time. */
  readonly timedOut?: boolean
}

export const NOT_CACHED = 'not in the mirror'

/** The most names and causes that an error lists; the rest is counted. */
const MAX_NAMES = 3
const MAX_CAUSES = 5

const RUN_AGAIN = 'The mirror keeps what was downloaded; run the same command again to download the rest.'
const DOWNLOAD = 'Download them with klines download, or choose a range that the mirror has with --from and --to.'

/** The first names, and how many more there are. */
export function joinNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return names.slice(0, MAX_NAMES).join(', ') + more
}

/** The error for windows that could not be downloaded or read: a line for each distinct cause, with a count and the first names. */
export function incomplete(
  failures: readonly WindowFailure[],
  total: number,
  { offline, forExport, advice }: { offline: boolean; forExport?: boolean; advice?: string },
): KlinesError {
  const causes = new Map<string, string[]>()
  for (const { reason, window } of failures) causes.set(reason, [...(causes.get(reason) ?? []), windowName(window)])
  const sorted = [...causes].sort(([, a], [, b]) => b.length - a.length)
  const lines = sorted.map(([reason, names]) => `${names.length} x ${reason} (${joinNames(names)})`)
  const more = lines.splice(MAX_CAUSES).length
  if (more > 0) lines.push(`and ${more} other causes; --json names every window`)
  const fault = offline ? 'are missing or corrupt' : 'could not be downloaded'
  const head = `${failures.length} of ${total} windows ${fault}${forExport ? ', so nothing was exported' : ''}:`
  return new KlinesError('incomplete', [head, ...lines].join('\n'), {
    data: { failures: failures.map(({ window, reason }) => ({ ...window, reason })) },
    suggestions: [advice ?? (offline ? DOWNLOAD : RUN_AGAIN)],
  })
}
