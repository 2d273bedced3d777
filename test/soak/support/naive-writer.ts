import { fileURLToPath } from 'node:url'
import type { CliSandbox, Running } from '../../support/cli/cli-sandbox.js'

const SCRIPT = fileURLToPath(new URL('naive-writer.mjs', import.meta.url))

/** Starts a careless program, which writes directly to the final paths, a slice at a time. */
export function startNaiveWriter(sandbox: CliSandbox, args: readonly string[]): Running {
  return sandbox.startNode([SCRIPT, ...args])
}
