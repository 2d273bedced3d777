import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ServiceSource, type ServiceSourceOptions } from '../../src/download/service-source.js'
import { RetryingFetcher } from '../../src/http/retrying-fetcher.js'
import { HttpTransport } from '../../src/http/transport.js'
import { KlinesClient } from '../../src/klines-client/client.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { FakeClock } from './fake-clock.js'
import { TreeServer } from './servers/tree-server.js'
import { makeTree, NOW } from './synthetic-tree.js'
import { tempFolder } from './temp-folder.js'

/** The made tree behind a server, an empty folder for a mirror, and what a request for BTCUSDT 15m is made of. */
export async function downloadSetup() {
  const tree = makeTree(tempFolder())
  const server = await TreeServer.start(tree)
  server.date = NOW
  const folder = tempFolder()
  const mirror = join(folder, 'mirror')
  const warnings: string[] = []
  const request = {
    symbols: ['BTCUSDT'],
    intervals: ['15m'],
    baseUrl: server.url,
    mirror,
    now: NOW,
    warn: (warning: string) => void warnings.push(warning),
  }
  return { tree, server, folder, mirror, warnings, request }
}

/** A source like the one `downloadKlines` opens, with a clock that does not wait between tries. */
export function openTestSource(server: TreeServer, mirror: string, options: Partial<ServiceSourceOptions> = {}) {
  const transport = new HttpTransport(server.url, { connections: 4 })
  const fetcher = new RetryingFetcher(transport, server.url, { concurrency: 4, clock: new FakeClock(NOW) })
  onTestFinished(() => fetcher.close())
  return new ServiceSource(server.url, new KlinesClient(fetcher, () => NOW), new Mirror(mirror), {
    refresh: false,
    readOnly: false,
    memoryFallback: false,
    now: NOW,
    signal: new AbortController().signal,
    warn: () => {},
    ...options,
  })
}

/** Every file below a folder, relative to it, sorted. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

/** A JSON file of a folder. */
export function readJson(folder: string, path: string): unknown {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}
