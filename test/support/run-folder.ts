import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { SOAK } from './soak.js'

/** Files in memory: opening, replacing and removing them takes less than half of the time of a disk. */
const MEMORY = '/dev/shm'
/** So much must be free there; a run takes some hundreds of MB. */
const ROOM_BYTES = 6 * 1024 ** 3
const CLEAN_UP = fileURLToPath(new URL('clean-up.mjs', import.meta.url))

/** Makes a folder for files in memory; undefined where there is little room, or where no program may be started from it. */
function makeInMemory(): string | undefined {
  try {
    const { bsize, bavail } = statfsSync(MEMORY)
    if (Math.min(bsize * bavail, process.availableMemory()) < ROOM_BYTES) return undefined
    const folder = mkdtempSync(join(MEMORY, 'klines-tests-'))
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    const { status } = spawnSync(program)
    rmSync(status === 0 ? program : folder, { recursive: true })
    if (status === 0) return folder
  } catch {}
  return undefined
}

/**
 * Makes a new folder the temporary folder of this process and of those that it starts, so that nothing is shared with other
 * runs and other users; `inMemory`: one for files in memory, if there is room. Returns a function that removes it. When this
 * process ends before that, also by a signal, another one ends all that still runs with this folder and removes it.
 */
export function useRunFolder({ inMemory = false } = {}): () => Promise<void> {
  const { TMPDIR } = process.env
  const folder = (inMemory && makeInMemory()) || mkdtempSync(join(tmpdir(), 'klines-tests-'))
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

/**
 * The global set-up of all tests. The projects inherit it from the root, for which it runs once. Soaks, which write much more, and runs
 * with a TMPDIR use the disk.
 */
export default function setup(project: TestProject): (() => Promise<void>) | undefined {
  const inMemory = SOAK === 0 && process.env.TMPDIR === undefined
  return project.isRootProject() ? useRunFolder({ inMemory }) : undefined
}
