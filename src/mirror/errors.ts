import { KlinesError } from '../candles/errors.js'
import { describeErrno, errnoCode, isRefusedFolder } from '../fs/errno.js'

/** Suggestions by error code. */
const ADVICE: Record<string, string> = {
  ENOSPC:
    'Make room, or name a folder on another disk with --mirror; finished files stay, the next run goes on from them.',
  EDQUOT: 'Your quota on that disk is used up: make room, or name another folder with --mirror.',
  EACCES: 'Give yourself permission there, or name another folder with --mirror.',
  EPERM: 'Give yourself permission there, or name another folder with --mirror.',
  EROFS: 'That disk is read-only: name another folder with --mirror.',
  ENOTDIR: 'Part of that path is a file: name another folder with --mirror.',
  EEXIST: 'There is a file of that name: name another folder with --mirror.',
  EMFILE: 'Raise the limit of open files (ulimit -n), then run the same command again.',
  ENFILE: 'The system has no more open files to give: run the same command again later.',
  EIO: 'Check the disk. A file that it cannot read any more is downloaded again once it is removed.',
}

/**
 * Converts a file system error to `mirror_unusable` with a suggestion; a `KlinesError` is returned unchanged.
 * `path`: the file, relative to the root.
 */
export function toMirrorError(error: unknown, verb: 'read' | 'write', root: string, path?: string): KlinesError {
  if (error instanceof KlinesError) return error
  const code = errnoCode(error)
  const advice = isRefusedFolder(error) ? 'Name another folder with --mirror.' : ADVICE[code]
  const name = path === undefined ? `the mirror ${root}` : `${path} of the mirror ${root}`
  return new KlinesError('mirror_unusable', `Cannot ${verb} ${name}: ${describeErrno(error)}.`, {
    cause: error,
    suggestions: advice ? [advice] : [],
    data: { mirror: root, errno: code, path },
  })
}
