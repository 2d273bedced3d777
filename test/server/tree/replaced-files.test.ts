import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { RawClient } from '../../support/servers/raw-client.js'
import { getWindow, makeWindow } from '../../support/servers/raw-requests.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { candle, FULL_WEEKS, putFile, RENDERED, weekPath, windowBytes } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const START = Date.parse(FULL_WEEKS[0])

it('a file that is changed in place, with its size and time as before, is noticed', async () => {
  const root = tempFolder()
  const [first, second] = [0, 5].map(seed => windowBytes([candle(START, seed)]))
  expect(first.length).toBe(second.length)
  putFile(root, PATH, first)
  const { request } = await startTestServer(root)
  expect((await request(PATH)).body.equals(first)).toBe(true)
  putFile(root, PATH, second)
  expect((await request(PATH)).body.equals(second)).toBe(true)
})

it('a file that is replaced, removed and put back is current in every response on a connection', async () => {
  const root = tempFolder()
  const { url } = await startTestServer(root)
  const client = await RawClient.open(url)
  onTestFinished(() => client.close())
  for (const [index, count] of [9, 10, undefined, 9].entries()) {
    if (count) putFile(root, PATH, makeWindow(count), RENDERED + index * 1_000)
    else rmSync(join(root, PATH))
    for (let repeat = 0; repeat < 3; repeat++) {
      client.send(getWindow())
      const { status, body } = await client.next()
      expect(status).toBe(count ? 200 : 404)
      if (count) expect(body.equals(makeWindow(count))).toBe(true)
    }
  }
})
