// Hook of set-policy.mjs: changes the literal of the retry policy, in whichever module it is.
let wanted = {}

export function initialize(policy) {
  wanted = policy
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  if (loaded.format !== 'module') return loaded
  const source = String(loaded.source)
  const changed = source.replace(/(\bRETRY_POLICY = )(\{[^}]*\})/, `$1Object.assign($2, ${JSON.stringify(wanted)})`)
  return changed === source ? loaded : { ...loaded, source: changed }
}
