// Loads the bundle with V8's own cache of its compiled code, which bin/bundle.js has left beside it: a quarter of the time
// to start. A cache that another version of Node has made is not taken, and the code is compiled as ever.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'

export const BUNDLE = fileURLToPath(new URL('../dist/bundle.cjs', import.meta.url))
export const CACHE = `${BUNDLE}.cache`

/** What src/main.ts exports, and the script that it is in. */
export function loadBundle() {
  // Compiled code from a cache cannot import by itself: V8 does not know any more which module it is of.
  const parameters = 'exports, require, module, __filename, __dirname, importOutside'
  const source = `(function (${parameters}) {${readFileSync(BUNDLE, 'latin1')}\n})`
  const script = new vm.Script(source, { filename: BUNDLE, cachedData: readCache() })
  const module = { exports: {} }
  const importOutside = specifier => import(specifier)
  script.runInThisContext()(module.exports, createRequire(BUNDLE), module, BUNDLE, dirname(BUNDLE), importOutside)
  return { ...module.exports, script }
}

function readCache() {
  try {
    return readFileSync(CACHE)
  } catch {
    return undefined
  }
}
