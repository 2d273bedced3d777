import { fileURLToPath } from 'node:url'
import { PACKAGE_URL } from '../version.js'
import { SAMPLE } from './sample-name.js'

export { SAMPLE } from './sample-name.js'

/** The tree of made candles that comes with the package. */
export const SAMPLE_ROOT = fileURLToPath(new URL('fixtures/sample', PACKAGE_URL))

/** The sample being served: a `baseUrl` for every function that takes one. */
export interface RunningSample {
  readonly name: typeof SAMPLE
  readonly url: string
  close(): Promise<void>
}

/** Serves the made candles that come with the package, in this process, on a free port of the loopback. */
export async function startSample(): Promise<RunningSample> {
  const { startServer } = await import('./server.js')
  const { url, close } = await startServer({ root: SAMPLE_ROOT })
  return { name: SAMPLE, url, close }
}
