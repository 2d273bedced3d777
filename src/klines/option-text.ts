/**
 * A message of the library in the words of another interface. The library names an option in backticks, if need be with a
 * value: `` `columns` ``, `` `timeFormat: 'iso'` ``, `` `force: true` ``. `rename` returns what stands for it, or undefined to keep
 * it; the value is text, such as `iso` or `true`.
 */
export function renameOptions(
  text: string,
  rename: (name: string, value: string | undefined) => string | undefined,
): string {
  return text.replace(
    /`([\w.()]+)(?:: (?:'([^`]*)'|(\d+|true)))?`/g,
    (quoted, name, word, other) => rename(name, word ?? other) ?? quoted,
  )
}
