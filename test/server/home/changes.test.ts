import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, OPEN_WEEK, putFile, RENDERED, weekPath, weekRows } from '../../support/synthetic-tree.js'
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

  it.each<[string, (root: string) => void]>([
    ['a window is new', root => putFile(root, weekPath('NEWUSDT', FULL_WEEKS[0]), weekRows(FULL_WEEKS[0]))],
    ['a window is removed', root => rmSync(join(root, weekPath('ETHUSDT', FULL_WEEKS[1])))],
    ['a series is removed', root => rmSync(join(root, 'api/klines/15m/ETHUSDT'), { recursive: true })],
    ['the newest window is written in place', root => putFile(root, OPEN_PATH, weekRows(OPEN_WEEK), RENDERED + 1000)],
  ])('is another one soon after %s', async (_, change) => {
    const root = makeTree(tempFolder())
    rmSync(join(root, weekPath('BTCUSDT', '2025-02-17')))
    rmSync(join(root, weekPath('ETHUSDT', '2025-02-17')))
    const { request } = await startTestServer(root)
    const { etag } = (await request(path)).headers
    change(root)
    const conditional = async () => (await request(path, { headers: { 'if-none-match': String(etag) } })).status
    await expect.poll(conditional, WAIT).toBe(200)
  })
})
