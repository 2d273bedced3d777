import { expect, it } from 'vitest'
import { startTestServer } from '../../support/servers/test-server.js'
import { candle, FULL_WEEKS, putFile, weekPath, windowBytes } from '../../support/synthetic-tree.js'
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
