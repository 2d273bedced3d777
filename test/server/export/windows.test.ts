import { rmSync, symlinkSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bigMirror } from '../../support/big-mirror.js'
import { expectError } from '../../support/servers/error-response.js'
import { sendRaw } from '../../support/servers/raw-client.js'
import { startTestServer } from '../../support/servers/test-server.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  putFile,
  weekPath,
  weekRows,
  windowBytes,
} from '../../support/synthetic-tree.js'
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
          message: expect.stringMatching(/^corrupt in the mirror: a link to something else$/),
        },
      ])
      expect((await get(url, `/export/15m/BTCUSDT.${extension}?from=${others[0]}`)).status).toBe(200)
    }
    putFile(root, weekPath('BTCUSDT', others[0]), [weekRows(others[0])[0].with(1, '1.123456789')])
    const lost = await get(url, `/export/15m/BTCUSDT.parquet?numbers=decimal&from=${others[0]}`)
    expect(expectError(lost, 409).message).toContain('open 1.123456789 does not fit DECIMAL(38,8)')
    const { request } = await startTestServer(root)
    expect((await request(PATH, { method: 'HEAD' })).status).toBe(409)
  })
})

describe('windows that change', () => {
  it('while the export is sent: it comes as it was made', async () => {
    const root = bigMirror(tempFolder(), { symbols: ['BTCUSDT'] })
    const { url, request } = await startTestServer(root, { now: Date.now })
    const target = '/export/15m/BTCUSDT.jsonl?to=2026-02-23'
    const { body: whole } = await request(target)
    const response = await new Promise<IncomingMessage>(resolve => httpGet(url + target, resolve))
    const chunks: Buffer[] = []
    for await (const chunk of response) {
      if (chunks.length === 0) rmSync(join(root, 'api'), { recursive: true })
      chunks.push(chunk)
    }
    expect(Buffer.concat(chunks).equals(whole)).toBe(true)
    expect((await request(target)).status).toBeGreaterThanOrEqual(400)
  })

  it('between two requests: the second one gets the new candles', async () => {
    const root = makeTree(tempFolder())
    for (const date of [OPEN_WEEK, FUTURE_WEEK]) rmSync(join(root, weekPath('BTCUSDT', date)))
    const { request } = await startTestServer(root)
    const target = `${PATH}?from=${FULL_WEEKS[0]}`
    const before = await request(target)
    const rows = weekRows(FULL_WEEKS[0])
    rows[0][4] = '7.77'
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), windowBytes(rows))
    const after = await request(target)
    expect(String(before.body)).not.toContain(',7.77,')
    expect(String(after.body)).toContain(',7.77,')
    expect(after.headers.etag).not.toBe(before.headers.etag)
    putFile(root, weekPath('BTCUSDT', OPEN_WEEK), weekRows(OPEN_WEEK, { days: 2 }))
    const longer = await request(target)
    expect(String(longer.body).split('\n')).toHaveLength(String(after.body).split('\n').length + 2)
  })
})
