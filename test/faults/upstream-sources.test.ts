import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openRun, type Run } from '../../src/engine/run.js'
import type { Source } from '../../src/sources/source.js'
import { openTestServer } from '../support/servers/test-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { MISSING_WINDOW, OPEN_WINDOW } from '../support/servers/upstream-checks.js'
import { NO_PAUSE } from '../support/servers/upstream-setup.js'
import { makeTree, NOW } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const STOPS = 10
/** A source stops after three answers in a row that are not JSON. */
const FAILURES = 3
const NOT_JSON = { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><p>Sign in</p>' }

/** A server with a service behind it, and every source that it has opened and closed. */
async function countedSources() {
  const service = await TreeServer.start(makeTree(tempFolder()))
  service.date = NOW
  const mirror = join(tempFolder(), 'mirror')
  const opened: Source[] = []
  const closed: Source[] = []
  const upstream = async (): Promise<Run<Source>> => {
    const run = await openRun({ baseUrl: service.url, mirror, now: NOW }, { policy: NO_PAUSE })
    const close = async () => {
      closed.push(run.source)
      await run.close()
    }
    opened.push(run.source)
    return { ...run, close }
  }
  const server = await openTestServer(mirror, { upstream })
  /** Makes the current source stop; the next request opens another one. */
  const stopSource = async () => {
    service.always(MISSING_WINDOW, NOT_JSON)
    for (let failures = 0; failures < FAILURES; failures++) {
      expect((await server.request(MISSING_WINDOW)).status).toBe(502)
    }
  }
  return { service, server, opened, closed, stopSource }
}

it('F80 a service that stops and comes back ten times: every source but the current one is closed', async () => {
  const { service, server, opened, closed, stopSource } = await countedSources()
  for (let stops = 1; stops <= STOPS; stops++) {
    await stopSource()
    service.reset()
    // It is back: this request is answered by the next source.
    expect((await server.request(OPEN_WINDOW)).headers.warning).toBeUndefined()
    expect([opened.length, closed.length]).toEqual([stops + 1, stops])
  }
  expect(closed).toEqual(opened.slice(0, -1))
  await server.close()
  expect(closed).toEqual(opened)
})
