import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'

/** The start of a command that drops the rights of root, which no permission stops; empty if the tests run as another user. */
export const WITHOUT_ROOT: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : []

/** Runs an action while all users may read a folder, but only root may write to it and to what is below it. */
export async function whileReadOnly<T>(folder: string, action: () => Promise<T>): Promise<T> {
  chmodSync(folder, 0o755)
  execFileSync('chmod', ['-R', 'a-w', folder])
  try {
    return await action()
  } finally {
    execFileSync('chmod', ['-R', 'u+w', folder])
  }
}
