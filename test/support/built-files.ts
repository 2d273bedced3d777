import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import build from './global-setup.js'

/** What the sources read and only a build creates. */
const BUILT_FILES = ['dist/swagger-ui/swagger-ui-bundle.js', 'dist/server/viewer/main.js']
const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** Unit tests run the sources, so a build of any age will do; without one they build. Worker threads get the present sources. */
export default async function setup(): Promise<void> {
  const findMissing = () => BUILT_FILES.filter(name => !existsSync(pathOf(name)))
  if (findMissing().length > 0) build()
  if (findMissing().length > 0) throw new Error(`The tests need ${findMissing().join(' and ')}: run \`npm run build\`.`)
  await bundle({
    entryPoints: [pathOf('src/worker.ts')],
    outfile: pathOf('dist/worker.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'warning',
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href" },
  })
}
