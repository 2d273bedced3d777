import { distance } from 'fastest-levenshtein'

const MAX_EDITS = 3

/** Asks for what `text` was meant to be, if `read`, which throws what it refuses, takes that: no suggestion is refused in its turn. */
export function didYouMean(text: string, guess: string | undefined, read: (guess: string) => unknown): string[] {
  if (guess === undefined || guess === text) return []
  try {
    read(guess)
    return [`Did you mean ${guess}?`]
  } catch {
    return []
  }
}

/**
 * The candidate that `text` was most likely meant to be: the only one that starts with it (`BTC`), else the one with the
 * fewest edits, at most a third of the letters; two neighbours that changed places are one edit.
 */
export function nearest<T extends string>(text: string, candidates: readonly T[]): T | undefined {
  if (text.length === 0) return undefined
  const starting = candidates.filter(name => text.length >= 2 && name.startsWith(text))
  if (starting.length === 1) return starting[0]
  const ranked = candidates.map(name => ({ name, edits: countEdits(text, name) })).sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  if (!best) return undefined
  const allowed = Math.min(MAX_EDITS, Math.floor(Math.max(text.length, best.name.length) / 3))
  return best.edits <= allowed ? best.name : undefined
}

function countEdits(text: string, name: string): number {
  const swapped = Array.from(
    { length: text.length - 1 },
    (_, at) => text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2),
  )
  return Math.min(distance(text, name), ...swapped.map(other => 1 + distance(other, name)))
}
