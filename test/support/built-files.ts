import { existsSync } from 'node:fs'
import build from './global-setup.js'

/** What the sources read and only a build creates. */
const BUILT_FILES = ['dist/swagger-ui/swagger-ui-bundle.js', 'dist/server/viewer/main.js']

/** Unit tests run the sources, so a build of any age will do; without one they build. */
export default function setup(): void {
  const findMissing = () => BUILT_FILES.filter(name => !existsSync(new URL(`../../${name}`, import.meta.url)))
  if (findMissing().length > 0) build()
  if (findMissing().length > 0) throw new Error(`The tests need ${findMissing().join(' and ')}: run \`npm run build\`.`)
}
