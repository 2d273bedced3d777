#!/usr/bin/env node
// Puts each command, with what it needs from packages, into few files: a quarter of the time to start was finding and
// reading 150 of them. The library is left as it is: whoever uses it bundles for themselves.
import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const commands = readdirSync(`${root}/src/commands`, { recursive: true }).filter(name => name.endsWith('.ts'))

// CommonJS in a module still asks for what only CommonJS has.
const banner = `import { createRequire as createRequireOfBundle } from 'node:module'
import { fileURLToPath as pathOfBundle } from 'node:url'
const require = createRequireOfBundle(import.meta.url)
const __filename = pathOfBundle(import.meta.url)
const __dirname = pathOfBundle(new URL('.', import.meta.url))`

rmSync(`${root}/dist/bundle`, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts', ...commands.map(name => `src/commands/${name}`)],
  outbase: 'src',
  outdir: 'dist',
  // As deep as the files of the sources are, so that what lies beside them is found.
  chunkNames: 'bundle/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  banner: { js: banner },
  // Have files of their own beside their code, or start threads from it.
  external: ['parquet-wasm', 'swagger-ui-dist', 'fastify', 'typescript', '@oclif/plugin-*'],
  allowOverwrite: true,
  logLevel: 'warning',
})
