import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import type { Measured } from './row.js'

/** A program to run. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Its working folder. Default: the system's temporary one. */
  readonly folder?: string
}

/**
 * Runs a program to its end and returns how long that took, ms. Ignores stdout. Throws stderr if the exit code is not 0.
 */
export async function timeRun(command: Command): Promise<Measured> {
  const started = performance.now()
  const child = spawn(command.program, command.args, {
    cwd: command.folder ?? tmpdir(),
    env: environment(command.env),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const [code, signal] = await once(child, 'exit')
  const value = performance.now() - started
  if (code !== 0)
    throw new Error(`${[command.program, ...command.args].join(' ')} ended with ${code ?? signal}: ${stderr}`)
  return { value }
}

/** Runs a program to its end. Returns what it printed; throws stderr if the exit code is not 0. */
export async function runProgram(command: Command): Promise<{ stdout: string; stderr: string }> {
  const { program, args, env, folder = tmpdir() } = command
  return promisify(execFile)(program, args, { cwd: folder, env: environment(env), maxBuffer: 1e9 })
}

/** The environment of every program: none of the user's settings or proxies. */
export function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? '', TZ: 'UTC', LANG: 'C.UTF-8', HOME: '/nonexistent', ...more }
}
