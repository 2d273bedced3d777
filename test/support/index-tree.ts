import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { windowPath } from '../../src/candles/paths.js'
import { windowOf } from '../../src/candles/series.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { formatIndex, indexPath } from '../../src/mirror/series-index.js'
import type { WindowFacts } from '../../src/mirror/window-state.js'
import { sha256 } from '../../src/rows/fingerprint.js'
import { putFile } from './synthetic-tree.js'

const DAY = 86_400_000

/**
 * Writes what downloads leave beside the windows of a tree: when its service rendered each of them, and was asked for it, ms UTC. Their
 * candles were first seen a day before.
 */
export function indexTree(root: string, { rendered, asked = rendered }: { rendered: number; asked?: number }): string {
  const mirror = new Mirror(root)
  if (mirror.source === undefined) putFile(root, 'mirror.json', { baseUrl: 'https://mirror.example' })
  for (const series of mirror.series()) {
    const facts = mirror.dates(series).map((startDate): [string, WindowFacts] => {
      const bytes = readFileSync(join(root, windowPath(windowOf(series, startDate))))
      const times = (JSON.parse(String(bytes)) as number[][]).map(([time]) => time)
      const ends = { first: times[0], last: times.at(-1) }
      const since = times.length === 0 ? undefined : rendered - DAY
      return [startDate, { size: bytes.length, sha256: sha256(bytes), rendered, asked, since, ...ends }]
    })
    putFile(root, indexPath(series), formatIndex(new Map(facts)), Date.now())
  }
  return root
}
