import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Tests of the real binary run `bin/run.js`, which runs `dist`: built anew from the sources under test. */
export default function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
}
