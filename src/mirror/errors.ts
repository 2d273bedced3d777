import { describeErrno, isRefusedFolder } from '../fs/errno.js'
import { KlinesError } from '../klines/errors.js'
import { findNoMemory } from '../klines/no-memory.js'

/** Suggestions by error code. */
const ADVICE: Record<string, string> = {
  ENOSPC:
    'Make room, or name a folder on another disk with `mirror`; finished files stay, the next run goes on from them.',
  EDQUOT: 'Your quota on that disk is used up: make room, or name another folder with `mirror`.',
  EACCES: 'Give yourself permission there, or name another folder with `mirror`.',
  EPERM: 'Give yourself permission there, or name another folder with `mirror`.',
  EROFS: 'That disk is read-only: name another folder with `mirror`.',
  ENOTDIR: 'Part of that path is a file: name another folder with `mirror`.',
  EEXIST: 'There is a file of that name: name another folder with `mirror`.',
}

/** Converts a file system error to `mirror_unusable` with a suggestion, or to `no_memory`; a `KlinesError` is returned unchanged. */
export function toMirrorError(error: unknown, verb: 'read' | 'write', root: string): KlinesError {
  const noMemory = findNoMemory(error)
  if (noMemory) return noMemory
  if (error instanceof KlinesError) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const advice = isRefusedFolder(error) ? 'Name another folder with `mirror`.' : ADVICE[code]
  return new KlinesError('mirror_unusable', `Cannot ${verb} the mirror ${root}: ${describeErrno(error)}.`, {
    cause: error,
    suggestions: advice ? [advice] : [],
    data: { mirror: root, errno: code },
  })
}
