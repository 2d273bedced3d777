import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRun } from '../../../src/engine/run.js'
import type { ServerOptions } from '../../../src/server/server.js'
import { UPSTREAM_POLICY } from '../../../src/server/upstream.js'
import type { RetryPolicy } from '../../../src/sources/retry.js'
import { turns } from '../deferred.js'
import { filesBelow } from '../files-below.js'
import { makeTree, NOW } from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'
import { type RequestOptions, startTestServer, type TestResponse, type TestServer } from './test-server.js'
import { TreeServer } from './tree-server.js'

/** The command's policy with one try, so that there is no pause, and with time for a busy machine. */
export const NO_PAUSE: RetryPolicy = { ...UPSTREAM_POLICY, tries: 1, attemptMs: 60_000 }

/** Options of a server with an upstream service. */
export interface UpstreamOptions extends Partial<ServerOptions> {
  readonly policy?: RetryPolicy
}

/** A server that fetches missing files from a service into its mirror, like `klines serve --upstream`. */
export async function serveUpstream(
  baseUrl: string,
  mirror: string,
  options: UpstreamOptions = {},
): Promise<TestServer> {
  const { policy = NO_PAUSE, ...rest } = options
  return startTestServer(mirror, {
    upstream: () => openRun({ baseUrl, mirror, now: rest.now?.() ?? NOW }, { policy }),
    source: baseUrl,
    ...rest,
  })
}

/** A service over the synthetic tree, and a server with that upstream and an empty mirror. */
export async function upstreamSetup(options?: UpstreamOptions) {
  const tree = makeTree(tempFolder())
  const service = await TreeServer.start(tree)
  service.date = NOW
  const mirror = join(tempFolder(), 'mirror')
  const { request, url } = await serveUpstream(service.url, mirror, options)
  /** The bytes of a file of the service. */
  const original = (path: string) => readFileSync(join(tree, path))
  /** The bytes of a file of the mirror; undefined when it is missing. */
  const stored = (path: string) => (existsSync(join(mirror, path)) ? readFileSync(join(mirror, path)) : undefined)
  /** The path of every file of the mirror. */
  const storedPaths = () => filesBelow(join(mirror, 'api')).map(file => `api/${file}`)
  /** Simultaneous requests: the service responds only after all of them have arrived. */
  const requestAtOnce = async (count: number, path: string, options?: RequestOptions): Promise<TestResponse[]> => {
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    service.hold = () => released
    const responses = Array.from({ length: count }, () => request(path, options))
    await request('/api/openapi.json')
    await turns()
    release()
    service.hold = () => {}
    return Promise.all(responses)
  }
  return { tree, service, baseUrl: service.url, mirror, request, url, original, stored, storedPaths, requestAtOnce }
}
