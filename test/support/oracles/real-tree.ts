import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
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

/** The folder that holds `api/` of the real slice, unpacked once. */
export function realTree(): string {
  return execFileSync('bash', [`${shared}/tools/real-tree`], { encoding: 'utf8' }).trim()
}

/** The facts about every series of the slice, by symbol, then interval. */
export function expectedSeries(): Record<string, Record<string, ExpectedSeries>> {
  return JSON.parse(readFileSync(`${shared}/data/expected.json`, 'utf8'))
}
