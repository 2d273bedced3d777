import { distance } from 'fastest-levenshtein'

/**
 * The candidate that `text` was most likely meant to be: the only one that starts with it (`BTC`), else the one with the fewest
 * edits, at most a third of its letters (1 to 3). Undefined when no candidate is close.
 */
export function suggest<T extends string>(text: string, candidates: readonly T[]): T | undefined {
  if (text.length === 0) return undefined
  const starting = candidates.filter(name => text.length >= 2 && name.startsWith(text))
  if (starting.length === 1) return starting[0]
  const ranked = candidates.map(name => ({ name, edits: distance(text, name) })).sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  if (!best) return undefined
  const allowed = Math.min(3, Math.max(1, Math.floor(best.name.length / 3)))
  return best.edits <= allowed ? best.name : undefined
}
