import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The facts about one series in `expected.json`, computed by an independent program. */
export interface ExpectedSeries {
  readonly windows: number
  readonly nonEmptyWindows: number
  readonly rows: number
  readonly firstOpenTime: number
  readonly lastOpenTime: number
  readonly gaps: number
  readonly missing: number
  readonly earlyClose: number
  readonly zeroTrades: number
  readonly trades: number
  readonly volume: string
  readonly quoteVolume: string
  readonly csvSha256: string
}

const shared = fileURLToPath(new URL('../../../../shared', import.meta.url))

/** Whether the real slice lies beside the project; tests that need it are skipped without it. */
export const hasRealTree = existsSync(`${shared}/data/real-tree.tar.xz`)
if (!hasRealTree) console.warn('Tests on real candles are skipped: ../shared/data is not there.')

/** The folder that holds `api/` of the real slice, unpacked once in the temporary folder of the run (`useRunFolder`). */
export function realTree(): string {
  const folder = join(tmpdir(), 'real-tree')
  if (existsSync(folder)) return folder
  // Several test files may start at once: one of them unpacks, which takes some seconds of a processor, and the others wait for it.
  const own = `${folder}-unpacking`
  try {
    mkdirSync(own)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    waitUntilGone(own)
    return realTree()
  }
  try {
    execFileSync('bash', [`${shared}/tools/real-tree`, join(own, 'tree')])
    renameSync(join(own, 'tree'), folder)
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
  return folder
}

/** Blocks until a folder is gone; throws when that takes two minutes. */
function waitUntilGone(folder: string): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let waitedMs = 0; existsSync(folder); waitedMs += 20) {
    if (waitedMs > 120_000) throw new Error(`${folder} is still there.`)
    Atomics.wait(cell, 0, 0, 20)
  }
}

/** The facts about every series of the slice, by symbol, then interval. */
export function expectedSeries(): Record<string, Record<string, ExpectedSeries>> {
  return JSON.parse(readFileSync(`${shared}/data/expected.json`, 'utf8'))
}
