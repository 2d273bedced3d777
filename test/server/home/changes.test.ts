import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTestServer } from '../../support/servers/test-server.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  putFile,
  RENDERED,
  SYMBOLS,
  weekPath,
  weekRows,
} from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

/** Longer than a page is kept. */
const WAIT = { timeout: 10_000, interval: 100 }
const OPEN_PATH = weekPath('ETHUSDT', OPEN_WEEK)

describe.each(['/', '/coverage.json'])('%s of a mirror', path => {
  it('has a strong ETag that stays while nothing changes', async () => {
    const { request } = await startTestServer(makeTree(tempFolder()))
    const { headers, status } = await request(path)
    expect([status, headers.etag]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)])
    const again = await request(path, { headers: { 'if-none-match': String(headers.etag) } })
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag])
  })

  it('is another one soon after a window is new, removed or written in place, or a series is removed', async () => {
    const changes: ((root: string) => void)[] = [
      root => putFile(root, weekPath('NEWUSDT', FULL_WEEKS[0]), weekRows(FULL_WEEKS[0])),
      root => rmSync(join(root, weekPath('ETHUSDT', FULL_WEEKS[1]))),
      root => putFile(root, OPEN_PATH, weekRows(OPEN_WEEK), RENDERED + 1000),
      root => rmSync(join(root, 'api/klines/15m/ETHUSDT'), { recursive: true }),
    ]
    const waits = changes.map(async change => {
      const root = makeTree(tempFolder())
      for (const symbol of SYMBOLS) rmSync(join(root, weekPath(symbol, FUTURE_WEEK)))
      const { request } = await startTestServer(root)
      const { etag } = (await request(path)).headers
      change(root)
      const conditional = async () => (await request(path, { headers: { 'if-none-match': String(etag) } })).status
      await expect.poll(conditional, { ...WAIT, message: String(change) }).toBe(200)
    })
    await Promise.all(waits)
  })
})
