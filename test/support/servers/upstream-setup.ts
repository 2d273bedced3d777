import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openServiceSource } from '../../../src/download/open-source.js'
import type { RetryPolicy } from '../../../src/http/retry.js'
import type { ServerOptions } from '../../../src/server/server.js'
import { UPSTREAM_POLICY } from '../../../src/server/tree/upstream.js'
import { filesBelow } from '../cli/cli-sandbox.js'
import { turns } from '../deferred.js'
import { makeTree, NOW } from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'
import { type RequestOptions, startTestServer, type TestResponse, type TestServer } from './test-server.js'
import { TreeServer } from './tree-server.js'

/** What the command uses, but for pauses between tries. */
export const NO_PAUSE: RetryPolicy = { ...UPSTREAM_POLICY, baseDelayMs: 0 }

/** How a server with a service behind it differs from the usual one. */
export interface UpstreamOptions extends Partial<ServerOptions> {
  readonly policy?: RetryPolicy
}

/** A server over a mirror that brings what is missing from a service, as `klines serve --upstream` opens it. */
export async function serveUpstream(
  baseUrl: string,
  mirror: string,
  options: UpstreamOptions = {},
): Promise<TestServer> {
  const { policy = NO_PAUSE, ...rest } = options
  return startTestServer(mirror, {
    upstream: () => openServiceSource({ baseUrl, mirror, now: NOW }, { policy }),
    ...rest,
  })
}

/** The made tree behind a service, and a server with that behind it whose mirror is empty. */
export async function upstreamSetup(options?: UpstreamOptions) {
  const tree = makeTree(tempFolder())
  const service = await TreeServer.start(tree)
  service.date = NOW
  const mirror = join(tempFolder(), 'mirror')
  const { request, url } = await serveUpstream(service.url, mirror, options)
  /** The bytes of a file as the service has them. */
  const original = (path: string) => readFileSync(join(tree, path))
  /** The bytes of a file as the mirror has them; undefined where it does not. */
  const stored = (path: string) => (existsSync(join(mirror, path)) ? readFileSync(join(mirror, path)) : undefined)
  /** Every file of the tree that the mirror has. */
  const storedPaths = () => filesBelow(join(mirror, 'api')).map(file => `api/${file}`)
  /** Many requests that wait side by side: the service answers when all of them have come. */
  const requestAtOnce = async (count: number, path: string, asked?: RequestOptions): Promise<TestResponse[]> => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    service.hold = () => held
    const answers = Array.from({ length: count }, () => request(path, asked))
    await request('/api/openapi.json')
    await turns()
    release()
    service.hold = () => {}
    return Promise.all(answers)
  }
  return { tree, service, baseUrl: service.url, mirror, request, url, original, stored, storedPaths, requestAtOnce }
}
