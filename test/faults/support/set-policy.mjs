// Preload: gives the program under test other times and tries (KLINES_TEST_POLICY, JSON), so that minutes become moments.
// All else is as users have it. The policy is changed where it is written, as commands are bundled and share no modules.
import { register } from 'node:module'
import vm from 'node:vm'
import { RETRY_POLICY } from '../../../dist/http/retry.js'
import { changePolicy } from './change-policy.mjs'

const wanted = JSON.parse(process.env.KLINES_TEST_POLICY)
for (const name of Object.keys(wanted)) {
  if (!(name in RETRY_POLICY)) throw new Error(`No such part of the policy: ${name}`)
}
register('./policy-hook.mjs', { parentURL: import.meta.url, data: wanted })

const { Script } = vm
vm.Script = class extends Script {
  constructor(source, { cachedData, ...options }) {
    const changed = changePolicy(source, wanted)
    super(changed, changed === source ? { ...options, cachedData } : options)
  }
}
