import { fileURLToPath } from 'node:url'
import { type LocalEndpoint, SAMPLE } from '../http/base-url.js'
import { PACKAGE_URL } from '../version.js'

/** Folder of the synthetic sample data that ships with the package. */
export const SAMPLE_ROOT = fileURLToPath(new URL('fixtures/sample', PACKAGE_URL))

/** A running server of the sample: a `baseUrl` for every function that takes one. */
export interface RunningSample extends LocalEndpoint {
  readonly name: typeof SAMPLE
  close(): Promise<void>
}

/** Serves the sample data of the package from this process, on a free loopback port. */
export async function startSample(): Promise<RunningSample> {
  const { startServer } = await import('./server.js')
  const { url, close } = await startServer({ root: SAMPLE_ROOT })
  return { name: SAMPLE, url, close }
}
