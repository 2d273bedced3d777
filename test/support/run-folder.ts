import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const CLEAN_UP = fileURLToPath(new URL('clean-up.mjs', import.meta.url))

/**
 * Makes a new folder the temporary folder of this process and of those that it starts, so that nothing is shared with other
 * runs and other users. Returns a function that removes it. When this process ends before that, also by a signal, another one
 * ends all that still runs with this folder and removes it.
 */
export function useRunFolder(): () => Promise<void> {
  const { TMPDIR } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'klines-tests-'))
  // The mode of the system's temporary folder: some programs run as another user.
  chmodSync(folder, 0o1777)
  // A group of its own: Ctrl-C does not reach it.
  const cleaner = spawn(process.execPath, [CLEAN_UP, folder], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] })
  const ended = once(cleaner, 'exit')
  cleaner.unref()
  process.env.TMPDIR = folder
  return async () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    cleaner.ref()
    cleaner.stdin.end()
    await ended
  }
}

/** The global set-up of all tests. The projects inherit it from the root, for which it runs once. */
export default function setup(project: TestProject): (() => Promise<void>) | undefined {
  return project.isRootProject() ? useRunFolder() : undefined
}
