import { type ExecFileException, execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { WITHOUT_ROOT } from '../permission.js'
import { builtScript } from './built-script.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The output and exit code of a child process. */
export interface ChildResult {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/** Runs a script of `test/support` in its own process, `withoutRoot` without the rights of root. */
export async function runChild(
  script: string,
  args: readonly string[],
  { withoutRoot = false } = {},
): Promise<ChildResult> {
  const node = [process.execPath, await builtScript(script), ...args]
  const [command, ...rest] = [...(withoutRoot ? WITHOUT_ROOT : []), ...node]
  return new Promise(resolve => {
    execFile(command, rest, { cwd: root, env: { ...process.env, HOME: '/nonexistent' } }, (error, stdout, stderr) => {
      const code = (error as ExecFileException | null)?.code ?? 0
      resolve({ stdout, stderr, code: typeof code === 'number' ? code : 1 })
    })
  })
}
