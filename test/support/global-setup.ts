import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Tests of the real binary run `bin/run.js`, which runs `dist`: it is built when a source is newer. */
export default function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../bin/prepare.js', import.meta.url))], {
    stdio: 'inherit',
  })
}
