/** The text of a module with another retry policy, if that is written in it. */
export function changePolicy(source, wanted) {
  return source.replace(/(\bRETRY_POLICY = )(\{[^}]*\})/, `$1Object.assign($2, ${JSON.stringify(wanted)})`)
}
