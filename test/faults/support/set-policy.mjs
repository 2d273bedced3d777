// Preload: changes parts of the retry policy (KLINES_TEST_POLICY, JSON), so that minutes become moments. The commands are
// bundled and share no modules with this file, so the policy is changed in the text of the bundle, where it is written.
import Module from 'node:module'
import { RETRY_POLICY } from '../../../dist/sources/retry.js'

const policy = process.env.KLINES_TEST_POLICY
for (const name of Object.keys(JSON.parse(policy))) {
  if (!(name in RETRY_POLICY)) throw new Error(`No such part of the policy: ${name}`)
}

const { _compile } = Module.prototype
Module.prototype._compile = function (text, ...rest) {
  const changed = text.replace(/(\bRETRY_POLICY = )(\{[^}]*\})/, `$1Object.assign($2, ${policy})`)
  return _compile.call(this, changed, ...rest)
}
