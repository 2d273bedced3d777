import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ServiceSource } from '../../src/download/sources/service-source.js'
import type { ServiceSourceOptions } from '../../src/download/sources/source-options.js'
import { StaticCatalogue } from '../../src/download/sources/static-catalogue.js'
import { RetryingFetcher } from '../../src/http/retrying-fetcher.js'
import { HttpTransport } from '../../src/http/transport/transport.js'
import type { Interval } from '../../src/klines/intervals.js'
import type { SymbolName } from '../../src/klines/symbols.js'
import { KlinesClient } from '../../src/klines-client/client.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { onWarning } from './events.js'
import { FakeClock } from './fake-clock.js'
import { TreeServer } from './servers/tree-server.js'
import { makeTree, NOW } from './synthetic-tree.js'
import { tempFolder } from './temp-folder.js'

/** A server with the synthetic tree, an empty folder for a mirror, and a request for BTCUSDT 15m. */
export async function downloadSetup() {
  const tree = makeTree(tempFolder())
  const server = await TreeServer.start(tree)
  server.date = NOW
  const folder = tempFolder()
  const mirror = join(folder, 'mirror')
  const warnings: string[] = []
  const request = {
    symbols: ['BTCUSDT'] as SymbolName[],
    intervals: ['15m'] as Interval[],
    baseUrl: server.url,
    mirror,
    now: NOW,
    onEvent: onWarning(text => warnings.push(text)),
  }
  return { tree, server, folder, mirror, warnings, request }
}

/** Opens a source as `downloadKlines` does, but with a clock that does not wait between tries. */
export function openTestSource(server: TreeServer, mirror: string, options: Partial<ServiceSourceOptions> = {}) {
  const transport = new HttpTransport(server.url, { connections: 4 })
  const fetcher = new RetryingFetcher(transport, server.url, { concurrency: 4, clock: new FakeClock(NOW) })
  onTestFinished(() => fetcher.close())
  const client = new KlinesClient(fetcher, () => NOW)
  const using = {
    refresh: false,
    readOnly: false,
    now: () => NOW,
    signal: new AbortController().signal,
    warn: () => {},
    ...options,
  }
  const tree = new Mirror(mirror)
  return new ServiceSource(client, new StaticCatalogue(client, tree, using), tree, using)
}

/** Reads a JSON file of a folder. */
export function readJson(folder: string, path: string): unknown {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}
