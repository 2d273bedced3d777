import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { builtScript } from '../cli/built-script.js'
import { PROJECT } from '../cli/cli-sandbox.js'
import { WITHOUT_ROOT } from '../permission.js'
import { NOW } from '../synthetic-tree.js'

/** A server in a separate process. */
export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
  /** Internal errors that it has reported so far. */
  readonly errors: () => readonly string[]
  /** What it wrote to stderr, normally nothing. */
  readonly stderr: () => string
}

/** Starts a server over a folder; `withoutRoot` without the rights of root. The server ends with the test. */
export async function startServerProcess(root: string, { withoutRoot = false } = {}): Promise<ServerProcess> {
  const script = await builtScript('servers/server-process-main.ts')
  // In a small heap memory settles soon, in every version of Node, and a leak shows.
  const heap = ['--max-semi-space-size=4', '--max-old-space-size=48']
  const node = [process.execPath, ...heap, script, root, String(NOW)]
  const [command, ...args] = [...(withoutRoot ? WITHOUT_ROOT : []), ...node]
  const child = spawn(command, args, { cwd: PROJECT, env: { ...process.env, HOME: '/nonexistent' } })
  onTestFinished(async () => {
    child.stdin.end()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const errors: string[] = []
  const lines = createInterface(child.stdout)
  const url = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    child.once('exit', code => reject(new Error(`The server ended with ${code}: ${stderr}`)))
  })
  lines.on('line', line => errors.push(line))
  return { url, process: child, errors: () => errors, stderr: () => stderr }
}
