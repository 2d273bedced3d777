/** Controls, format characters such as bidirectional marks, line and paragraph separators. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * Quotes untrusted text for a message: as JSON, with every character escaped that a terminal could interpret (JSON itself does
 * not escape C1 controls and bidirectional marks).
 */
export function quoteText(text: string): string {
  return JSON.stringify(text).replace(INVISIBLE, escapeUnits)
}

/** Escapes in lines of text what a terminal could interpret, line feeds and tabs excepted. JSON stays the same JSON. */
export function escapeControls(lines: string): string {
  return lines.replace(INVISIBLE, character => (/[\n\t]/.test(character) ? character : escapeUnits(character)))
}

function escapeUnits(character: string): string {
  return character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** A word of a command that people copy, as a POSIX shell takes it: quoted if the shell would interpret it. */
export function quoteWord(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
