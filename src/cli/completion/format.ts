import type { Completion } from './complete.js'

/** What a shell takes as a plain word, without quotes: also the letters of any script. */
const PLAIN = /^[\w./,:=@+\p{L}\p{M}\p{Nd}-]+$/u

/**
 * The lines that the scripts of the shells read: `:words`, `:files` or `:folders`, then one candidate a line with a tab and its
 * description, if it has one. A candidate that a shell or a terminal could interpret is left out.
 */
export function formatCompletion({ kind, candidates }: Completion): string {
  const lines = candidates
    .filter(({ value }) => PLAIN.test(value))
    .map(({ value, description }) => (description ? `${value}\t${toLine(description)}` : value))
  return [`:${kind}`, ...lines, ''].join('\n')
}

/** Text without controls and other invisible characters. */
function toLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
}
