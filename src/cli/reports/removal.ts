import { formatBytes, formatCount, plural } from '../../klines/text.js'
import type { Removal } from '../../mirror/prune.js'
import { printable } from '../terminal/text.js'
import type { Report } from './report.js'
import type { ClearObject } from './schema.js'

/** Paths that are listed one by one. */
const MAX_LISTED = 20

/** `mirror prune` and `mirror clear`: the files that were removed, or with `dryRun` would be. */
export function removalReport({ mirror, paths, bytes }: Removal, dryRun = false): Report<ClearObject> {
  const text = () => {
    const more = paths.length > MAX_LISTED ? [`and ${formatCount(paths.length - MAX_LISTED)} more`] : []
    const lines = [...paths.slice(0, MAX_LISTED).map(printable), ...more]
    if (lines.length > 0) lines.push('')
    lines.push(`${plural(paths.length, 'file')}, ${formatBytes(bytes)}, ${dryRun ? 'would be removed' : 'removed'}.`)
    return [...lines, `Mirror: ${mirror}`].join('\n')
  }
  return { json: { mirror, removed: [...paths], bytes }, text }
}
