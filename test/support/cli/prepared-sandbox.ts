import { cpSync } from 'node:fs'
import type { CliSandbox } from './cli-sandbox.js'

/**
 * Returns a function that creates sandboxes with equal files and clocks. `prepare` makes them in the first one; all others get
 * copies with the times of the files, which takes a fraction of its time.
 */
export function usePreparedSandboxes(
  newSandbox: () => CliSandbox,
  prepare: (sandbox: CliSandbox) => Promise<unknown>,
): () => Promise<CliSandbox> {
  let first: Promise<CliSandbox> | undefined
  const make = async () => {
    const sandbox = newSandbox()
    await prepare(sandbox)
    return sandbox
  }
  return async () => {
    first ??= make()
    const { folder, now } = await first
    const sandbox = newSandbox()
    cpSync(folder, sandbox.folder, { recursive: true, preserveTimestamps: true })
    sandbox.now = now
    return sandbox
  }
}
