/**
 * Text from outside in quotes, for a message: as JSON, and with every character escaped that a terminal could take for
 * more than text (JSON itself lets C1 controls and marks of direction through).
 */
export function quoteText(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
