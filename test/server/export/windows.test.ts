import { once } from 'node:events'
import { rmSync, symlinkSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bigMirror } from '../../support/big-mirror.js'
import { expectError } from '../../support/servers/error-response.js'
import { sendRaw } from '../../support/servers/raw-client.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, putFile, weekPath, weekRows, windowBytes } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const PATH = '/export/15m/BTCUSDT.csv'
const get = (url: string, target = PATH) => sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)

describe('a window that is missing or corrupt', () => {
  it('is 409 with every such window as cause, and no folder of this machine', async () => {
    const root = makeTree(tempFolder())
    const [missing, cut, folder, ...others] = FULL_WEEKS
    rmSync(join(root, weekPath('BTCUSDT', missing)))
    putFile(root, weekPath('BTCUSDT', cut), windowBytes(weekRows(cut)).subarray(0, -5))
    rmSync(join(root, weekPath('BTCUSDT', folder)))
    symlinkSync('/etc/passwd', join(root, weekPath('BTCUSDT', folder)))
    const { url } = await startTestServer(root)
    for (const extension of ['csv', 'parquet']) {
      const error = expectError(await get(url, `/export/15m/BTCUSDT.${extension}`), 409)
      expect(error.message).toMatch(
        /^3 of 8 windows are missing or corrupt, so nothing was exported: 1 x not in the mirror \(BTC/,
      )
      const series = { symbol: 'BTCUSDT', interval: '15m' }
      expect(error.cause).toEqual([
        { ...series, startDate: missing, message: 'not in the mirror' },
        { ...series, startDate: cut, message: expect.stringMatching(/^corrupt in the mirror: /) },
        {
          ...series,
          startDate: folder,
          message: expect.stringMatching(/^corrupt in the mirror: not a regular file$/),
        },
      ])
      expect((await get(url, `/export/15m/BTCUSDT.${extension}?from=${others[0]}`)).status).toBe(200)
    }
    const { request } = await startTestServer(root)
    expect((await request(PATH, { method: 'HEAD' })).status).toBe(409)
  })
})

describe('a window that becomes corrupt or is removed while the export is sent', () => {
  const LAST = '2026-02-16'

  /** Starts an export, and changes the mirror when its first bytes have come: the last windows are not read yet. */
  async function changeMidway(change: (root: string) => void) {
    const root = bigMirror(tempFolder(), { symbols: ['BTCUSDT'] })
    const warnings: string[] = []
    const { url } = await startTestServer(root, { now: Date.now, warn: text => void warnings.push(text) })
    return { root, warnings, target: `${url}/export/15m/BTCUSDT.jsonl?to=2026-02-23`, change: () => change(root) }
  }

  function expectCutInLog(warnings: readonly string[]): void {
    const cuts = warnings.filter(text => text.startsWith('The response to GET /export/15m/BTCUSDT.jsonl'))
    expect(cuts).toHaveLength(1)
    expect(cuts[0]).toMatch(/ was cut: \d+ of 60 windows are missing or corrupt/)
  }

  it.each<[string, (root: string) => void]>([
    ['corrupt', root => putFile(root, weekPath('BTCUSDT', LAST), 'oops')],
    ['cleared', root => rmSync(join(root, 'api'), { recursive: true })],
  ])('%s: the connection is cut, and the log says it', async (_, change) => {
    const midway = await changeMidway(change)
    const response = await new Promise<IncomingMessage>(resolve => {
      // Its error is that of the response, which is awaited.
      httpGet(midway.target, resolve).on('error', () => {})
    })
    let received = 0
    response.on('data', chunk => {
      if (received === 0) midway.change()
      received += chunk.length
    })
    const [error] = await once(response, 'error')
    expect([response.statusCode, error.code, response.complete]).toEqual([200, 'ECONNRESET', false])
    expect(received).toBeGreaterThan(100_000)
    expectCutInLog(midway.warnings)
  })
})
