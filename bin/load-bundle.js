// Loads the bundle with V8's own cache of its compiled code, which bin/bundle.js has left beside it: a quarter of the time
// to start. Without a cache that fits, the code is compiled as ever.
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'

export const BUNDLE = fileURLToPath(new URL('../dist/bundle.cjs', import.meta.url))
export const CACHE = `${BUNDLE}.cache`
/** What is compiled follows a key of this length, padded with blanks. */
const KEY_BYTES = 512

/** What src/main.ts exports, and the script that it is in. */
export function loadBundle() {
  const text = readFileSync(BUNDLE, 'latin1')
  // Compiled code from a cache cannot import by itself: V8 does not know any more which module it is of.
  const parameters = 'exports, require, module, __filename, __dirname, importOutside'
  const cachedData = readCache(text)
  const script = new vm.Script(`(function (${parameters}) {${text}\n})`, { filename: BUNDLE, cachedData })
  const module = { exports: {} }
  const importOutside = specifier => import(specifier)
  script.runInThisContext()(module.exports, createRequire(BUNDLE), module, BUNDLE, dirname(BUNDLE), importOutside)
  return { ...module.exports, script, text }
}

/**
 * What a cache has to be made of and by: this very text (its first line is a digest of it) and this very program. V8 itself
 * asks for its version and the text's length alone, and another build of the same Node crashes on what it takes then.
 */
export function keyOf(text) {
  const { size, mtimeMs } = statSync(process.execPath)
  const parts = [text.slice(0, text.indexOf('\n')), process.version, process.arch, size, mtimeMs, process.execPath]
  const key = Buffer.alloc(KEY_BYTES, ' ')
  key.write(JSON.stringify(parts))
  return key
}

function readCache(text) {
  try {
    const cache = readFileSync(CACHE)
    return cache.subarray(0, KEY_BYTES).equals(keyOf(text).subarray(0, KEY_BYTES))
      ? cache.subarray(KEY_BYTES)
      : undefined
  } catch {
    return undefined
  }
}
