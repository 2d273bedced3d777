const DESCRIPTIONS: Record<string, string> = {
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'part of the path is a file',
  EEXIST: 'there is a file of that name',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
  EIO: 'input/output error',
}

/** The code of a system error, such as `ENOENT`, or ''. */
export function errnoCode(error: unknown): string {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** Describes a file system error with its code: `the disk is full (ENOSPC)`. */
export function describeErrno(error: unknown): string {
  const code = errnoCode(error)
  return `${DESCRIPTIONS[code] ?? (error as Error).message}${code ? ` (${code})` : ''}`
}

/** What a call returns; undefined for a path that is not there. */
export function unlessMissing<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoCode(error))) return undefined
    throw error
  }
}
