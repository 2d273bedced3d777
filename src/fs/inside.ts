import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { KlinesError } from '../candles/errors.js'

/**
 * Throws `linked_path` when the folder of `root/path` lies outside of `root`, because a link leads there: whoever copied or cloned a folder
 * must not write elsewhere. Links at or above `root`, which the user named, are followed.
 */
export function checkInside(root: string, path: string): void {
  if (!existsSync(root)) return
  let folder = dirname(join(root, path))
  while (!existsSync(folder)) folder = dirname(folder)
  const [realRoot, real] = [realpathSync(root), realpathSync(folder)]
  if (real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) return
  throw new KlinesError(
    'linked_path',
    `${folder} is a link to ${real}, outside of ${root}. Nothing is written there.`,
    {
      suggestions: ['Remove the link, or put what it names into its place. Then run the same command again.'],
      data: { link: folder },
    },
  )
}
