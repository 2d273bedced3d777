/**
 * Quotes untrusted text for a message: as JSON, with every character escaped that a terminal could interpret (JSON itself does
 * not escape C1 controls and bidirectional marks).
 */
export function quoteText(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
