import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { KlinesError } from '../candles/errors.js'

/**
 * Throws `linked_path` when a link below `root` leads `path` (relative to `root`, with slashes) out of it. Links at or above `root`,
 * which the user named, are followed. What is missing leads nowhere.
 */
export function refuseLinks(root: string, path: string): void {
  const top = findReal(root)
  let link = root
  for (const name of top === undefined ? [] : path.split('/')) {
    link = join(link, name)
    const real = findReal(link)
    if (real === undefined) return
    if (real.startsWith(top + sep)) continue
    const message = `${link} is a link. Below ${root}, nothing is written, replaced or removed through a link.`
    throw new KlinesError('linked_path', message, {
      suggestions: ['Remove the link, or put what it names into its place. Then run the same command again.'],
      data: { link },
    })
  }
}

function findReal(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
