#!/usr/bin/env node
// Bundles the entry, the commands, oclif, the workers, the completion of shells and the scripts of the
// browser into one file each: Node then reads a few files instead of 300, and a page loads one.
// The rest of dist is the library, with its CommonJS packages built in.
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const common = {
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  bundle: true,
  allowOverwrite: true,
  logLevel: 'warning',
}
const options = {
  ...common,
  platform: 'node',
  target: 'node20',
  // In all of them, paths are relative to dist.
  define: { 'import.meta.url': 'bundleUrl' },
}

// The pages of `klines serve`. The package of Swagger UI runs a script when it is installed, so only its files are shipped.
const folderOf = name => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
const swagger = folderOf('swagger-ui-dist')
const copy = (from, to) => cpSync(from, join(common.absWorkingDir, 'dist', to), { recursive: true })
const copySources = folder => copy(join(common.absWorkingDir, 'src', folder), folder)
copySources('server/docs/assets')
// A browser has no modules of Node, so the build fails where one is imported.
await build({
  ...common,
  platform: 'browser',
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  minify: true,
  entryPoints: ['main.ts', 'viewer.css'].map(name => `src/server/viewer/${name}`),
  outbase: 'src',
  outdir: 'dist',
})
copy(`${folderOf('lightweight-charts')}/LICENSE`, 'lightweight-charts/LICENSE')
for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE']) {
  copy(`${swagger}/${name}`, `swagger-ui/${name}`)
}

// Packages in CommonJS become a part of the library's files that import them. In an ES module that another bundler makes of them, their
// `require` of a module of Node would throw; and their own dependencies may come to need a newer Node than klines does.
const COMMON_JS = /^(fastify|negotiator|proper-lockfile|range-parser|undici|yauzl)(\/|$)/
const importsOf = text => [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)].map(([, path]) => path)
const builtIn = {
  name: 'built-in',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, importer }) => {
      const isOwn = !importer.includes('node_modules')
      if (isOwn && importer !== '' && !COMMON_JS.test(path)) return { path, external: true }
      return !isOwn && isBuiltin(path) ? { path, namespace: 'node' } : undefined
    })
    onLoad({ filter: /./, namespace: 'node' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}
const compiled = readdirSync(join(common.absWorkingDir, 'dist'), { recursive: true })
  .filter(name => name.endsWith('.js') && !name.startsWith('swagger-ui'))
  .map(name => join(common.absWorkingDir, 'dist', name))
await build({
  ...common,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  entryPoints: compiled.filter(path => importsOf(readFileSync(path, 'utf8')).some(name => COMMON_JS.test(name))),
  outbase: 'dist',
  outdir: 'dist',
  plugins: [builtIn],
})

// The scripts of `klines completion`, and what they call.
copySources('cli/completion/scripts')
const commonJs = {
  ...options,
  format: 'cjs',
  // `require` reads a library once; `import()` of CommonJS would first search all of it for its exports.
  supported: { 'dynamic-import': false },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href" },
}
await build({ ...commonJs, entryPoints: ['src/cli/completion/complete.ts'], outfile: 'dist/completion.cjs' })

// Large libraries that most commands do not need get files of their own, by the names under which they are imported.
const PACKAGES = 'apache-arrow hyparquet hyparquet-writer cli-table3 fastify lru-cache proper-lockfile yauzl typebox'
const LIBRARIES = [...PACKAGES.split(' '), 'typebox/compile', './undici.js']
const fileOf = name => `libraries/${basename(name, '.js')}.cjs`
for (const name of LIBRARIES) {
  const entry = name === './undici.js' ? 'src/sources/undici.ts' : name
  await build({ ...commonJs, entryPoints: [entry], outfile: `dist/${fileOf(name)}` })
}
const libraries = {
  name: 'libraries',
  setup: ({ onResolve }) =>
    onResolve({ filter: /./ }, ({ path }) =>
      LIBRARIES.includes(path) ? { path: `./${fileOf(path)}`, external: true } : undefined,
    ),
}

// What oclif loads at each start and never calls here: patterns of plugins and of files with commands, settings outside of
// package.json, and the look for a PowerShell, without which it takes COMSPEC.
const UNUSED = /^(minimatch|tinyglobby|lilconfig|wsl-utils)$/
// It sorts the ids of commands in the user's language, for which Node reads tables for 10 ms at each start. The ids are ASCII.
const [SORTED, PLAIN] = ['a.id.localeCompare(b.id)', '(a.id < b.id ? -1 : 1)']
const lean = {
  name: 'lean',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: UNUSED }, ({ path, importer }) =>
      /@oclif.core/.test(importer) ? { path, namespace: 'unused' } : undefined,
    )
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: '' }))
    onLoad({ filter: /@oclif.core.lib.config.plugin\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes(SORTED)) throw new Error(`${path} no longer has ${SORTED}`)
      return { contents: text.replace(SORTED, PLAIN) }
    })
  },
}

// The entry and the commands share one oclif: a file with a property for each of its modules that we import.
const OCLIF = ['args', 'command', 'errors', 'flags', 'help', 'run']
const contents = OCLIF.map(name => `export * as ${name} from '@oclif/core/${name}'`).join('\n')
await build({
  ...commonJs,
  stdin: { contents, resolveDir: common.absWorkingDir },
  outfile: 'dist/oclif.cjs',
  plugins: [lean],
  // oclif looks for it only during development.
  external: ['typescript'],
})
const oclif = {
  name: 'oclif',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@oclif.core/ }, ({ path }) => ({ path: basename(path), namespace: 'oclif' }))
    onLoad({ filter: /./, namespace: 'oclif' }, ({ path }) => ({
      contents: `module.exports = require('./oclif.cjs').${path}`,
    }))
  },
}

// A script starts in half of the time of a module, because it loads a library only when it is needed. The entry needs no command to show
// help. The commands come last, because bin/prepare.js takes their file as the proof of a whole build.
for (const name of ['worker', 'main', 'commands']) {
  const files = { entryPoints: [`src/${name}.ts`], outfile: `dist/${name}.cjs` }
  await build({ ...commonJs, ...files, plugins: [libraries, oclif], external: ['./oclif.cjs'] })
}
