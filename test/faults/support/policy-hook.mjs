// Hook of set-policy.mjs: changes the literal of the retry policy, in whichever module it is.
import { changePolicy } from './change-policy.mjs'

let wanted = {}

export function initialize(policy) {
  wanted = policy
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  if (loaded.format !== 'module') return loaded
  const source = String(loaded.source)
  const changed = changePolicy(source, wanted)
  return changed === source ? loaded : { ...loaded, source: changed }
}
