#!/usr/bin/env node
// Puts the commands, with what they need from packages, into one file, and V8's compiled form of what they use beside it:
// most of the time to start was finding, reading and compiling 150 files. The library is left as it is: whoever uses it
// bundles for themselves.
import { createHash } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { BUNDLE, CACHE, keyOf, loadBundle } from './load-bundle.js'
import './v8-flags.js'

const root = fileURLToPath(new URL('..', import.meta.url))

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  outfile: BUNDLE,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  // A file as deep as those of src, so that what lies beside these is found.
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__dirname + '/main/index.js').href" },
  // Have files of their own beside their code, or start threads from it.
  external: ['parquet-wasm', 'swagger-ui-dist', 'fastify', 'typescript', '@oclif/plugin-*'],
  write: false,
  logLevel: 'warning',
})
let { text } = outputFiles[0]
/** Changes a package's text; where that is not found any more, what is said of it here may hold no more either. */
function change(pattern, replacement) {
  const changed = text.replaceAll(pattern, replacement)
  if (changed === text) throw new Error(`Not in the bundle: ${pattern}`)
  text = changed
}
change(/\bawait import\(/g, 'await importOutside(')
// oclif puts its commands in order by the rules of languages, which take 9 ms to load. The ids are plain.
change(/\(a, b\) => a\.id\.localeCompare\(b\.id\)/g, '(a, b) => (a.id < b.id ? -1 : 1)')
// undici does without where Node has no HTTP/2, and we speak none; it takes 10 ms to load.
change(/http2 = require\("node:http2"\)/g, 'http2 = { constants: {} }')
// It is read byte by byte; esbuild leaves regular expressions as they are.
text = text.replace(/[^\0-\x7f]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
rmSync(CACHE, { force: true })
putInPlace(BUNDLE, `// ${createHash('sha256').update(text).digest('hex')}\n${text}`)

/** Whole or not at all, also after a power cut: commands may run meanwhile, and V8 crashes on compiled code with holes. */
function putInPlace(path, content) {
  writeFileSync(`${path}.${process.pid}`, content, { flush: true })
  renameSync(`${path}.${process.pid}`, path)
}

// A thread has to start soon to be of use: one file in place of 30.
await build({
  absWorkingDir: root,
  entryPoints: ['src/mirror/verify-thread.ts'],
  outfile: 'dist/mirror/verify-thread.js',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  allowOverwrite: true,
  logLevel: 'warning',
})

// What a run compiles on its way is part of the cache.
const { run, script, text: loaded } = loadBundle()
const folder = mkdtempSync(join(tmpdir(), 'klines-bundle-'))
const { write } = process.stdout
try {
  process.stdout.write = () => true
  const sample = ['BTCUSDT', '-i', '1h', '--base-url', 'sample', '--mirror', join(folder, 'mirror')]
  for (const args of [
    ['intervals', '--help'],
    ['download', ...sample, '-o', join(folder, 'a.csv')],
    ['export', ...sample, '-o', join(folder, 'b.csv')],
    ['verify', 'BTCUSDT', '-i', '1h', '--mirror', join(folder, 'mirror')],
  ]) {
    await run(args, root)
  }
} finally {
  process.stdout.write = write
  // What a run could not do here, such as listen on a port, is no fault of the build.
  process.exitCode = 0
  rmSync(folder, { recursive: true, force: true })
}
putInPlace(CACHE, Buffer.concat([keyOf(loaded), script.createCachedData()]))
