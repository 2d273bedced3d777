import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const SUPPORT = fileURLToPath(new URL('..', import.meta.url))
const built = new Map<string, Promise<string>>()

/** Packages are read from where they are installed, and sources find files beside themselves. */
const inPlace: Plugin = {
  name: 'in-place',
  setup: ({ initialOptions, onLoad, onResolve, resolve }) => {
    const [entry] = initialOptions.entryPoints as string[]
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind === 'entry-point' || pluginData === inPlace) return undefined
      const { path: found } = await resolve(path, { kind, resolveDir, pluginData: inPlace })
      return found.startsWith('/') ? { path: pathToFileURL(found).href, external: true } : undefined
    })
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      // The script itself may ask whether it is the main module.
      if (path === entry) return undefined
      const contents = readFileSync(path, 'utf8')
      return {
        contents: contents.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
        loader: 'ts',
      }
    })
  },
}

/**
 * Bundles a script of `test/support` with the sources that it imports, once for each worker; returns the path of the bundle. It
 * starts in a third of the time that a compiler inside of the process takes.
 */
export function builtScript(script: string): Promise<string> {
  const known = built.get(script)
  if (known) return known
  const made = bundle(script)
  built.set(script, made)
  return made
}

async function bundle(script: string): Promise<string> {
  const folder = join(tmpdir(), 'built-scripts')
  const name = basename(script, '.ts')
  const outfile = join(folder, `${name}.mjs`)
  const own = join(folder, `${name}-${process.pid}.mjs`)
  mkdirSync(folder, { recursive: true })
  await build({
    entryPoints: [join(SUPPORT, script)],
    outfile: own,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'error',
    plugins: [inPlace],
  })
  renameSync(own, outfile)
  return outfile
}
