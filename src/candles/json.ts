/** Decodes UTF-8, with or without a byte order mark. Throws a `TypeError` for other bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

/** Whether a JSON value is an object: neither an array nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isOneOf<Word extends string>(words: readonly Word[], value: unknown): value is Word {
  return words.some(word => word === value)
}

/** The JSON object that a text is; undefined for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
