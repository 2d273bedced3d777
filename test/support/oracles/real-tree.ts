import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
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
  // Several test files may start at once: each unpacks into its own folder, and the first rename counts.
  const own = mkdtempSync(`${folder}-`)
  try {
    execFileSync('bash', [`${shared}/tools/real-tree`, join(own, 'tree')])
    renameSync(join(own, 'tree'), folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
  return folder
}

/** The facts about every series of the slice, by symbol, then interval. */
export function expectedSeries(): Record<string, Record<string, ExpectedSeries>> {
  return JSON.parse(readFileSync(`${shared}/data/expected.json`, 'utf8'))
}
