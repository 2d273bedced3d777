import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import type { SymbolName } from '../../src/candles/symbols.js'
import { openRun, type Run } from '../../src/engine/run.js'
import { Fetcher } from '../../src/sources/fetcher.js'
import { RETRY_POLICY } from '../../src/sources/retry.js'
import type { Source } from '../../src/sources/source.js'
import { staticSource } from '../../src/sources/static.js'
import { HttpTransport } from '../../src/sources/transport.js'
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

/** Opens a run as `downloadKlines` does, but with a clock that does not wait between tries. */
export async function openTestRun(
  server: TreeServer,
  mirror: string,
  options: Partial<Run> = {},
): Promise<Run<Source>> {
  const transport = new HttpTransport(server.url, { connections: 4 })
  const fetcher = new Fetcher(transport, server.url, {
    concurrency: 4,
    policy: RETRY_POLICY,
    clock: new FakeClock(NOW),
  })
  onTestFinished(() => fetcher.close())
  const run = await openRun({ baseUrl: server.url, mirror, now: NOW, concurrency: 4 })
  await run.source.close()
  return { ...run, ...options, source: staticSource(fetcher, { now: () => NOW, observe: () => {} }) }
}

/** Reads a JSON file of a folder. */
export function readJson(folder: string, path: string): unknown {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}
