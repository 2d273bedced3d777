import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

/**
 * Makes a new folder the temporary folder of this process and of those that it starts, so that nothing is shared with other
 * runs and other users. Returns a function that removes it.
 */
export function useRunFolder(): () => void {
  const { TMPDIR } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'klines-tests-'))
  // The mode of the system's temporary folder: some programs run as another user.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  return () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The global set-up of all tests. The projects inherit it from the root, for which it runs once. */
export default function setup(project: TestProject): (() => void) | undefined {
  return project.isRootProject() ? useRunFolder() : undefined
}
