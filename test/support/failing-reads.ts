import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** The calls that read a file: its name is looked up, it is opened, its size asked for, its bytes read. */
export const READ_CALLS = ['lstatSync', 'openSync', 'fstatSync', 'readSync'] as const
export type ReadCall = (typeof READ_CALLS)[number]

/** Which calls on which files fail. */
export interface FailingRead {
  readonly call: ReadCall
  /** An error code, such as `EIO`. */
  readonly code: string
  /** Part of the paths of the files. */
  readonly path: string
  /** Only the call of this number fails, from 1. Default: every call. */
  readonly at?: number
}

/** Makes reads fail in this process while an action runs. Returns its result, and how many calls matched. */
export async function whileReadsFail<T>(
  { call, code, path, at }: FailingRead,
  action: () => Promise<T>,
): Promise<{ result: T; calls: number }> {
  const real = { openSync: fs.openSync, [call]: fs[call] } as Record<string, (...args: unknown[]) => unknown>
  const paths = new Map<unknown, string>()
  let calls = 0
  const patched: typeof real = {}
  for (const [name, original] of Object.entries(real)) {
    const failing = (...args: unknown[]) => {
      const file = typeof args[0] === 'number' ? paths.get(args[0]) : String(args[0])
      if (name === call && file?.includes(path) && (++calls === at || at === undefined))
        throw Object.assign(new Error(`${code}: injected, ${name}`), { code, syscall: name })
      const result = original(...args)
      if (name === 'openSync') paths.set(result, String(args[0]))
      return result
    }
    patched[name] = Object.assign(failing, original)
  }
  Object.assign(fs, patched)
  syncBuiltinESMExports()
  try {
    return { result: await action(), calls }
  } finally {
    Object.assign(fs, real)
    syncBuiltinESMExports()
  }
}
