import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { SAMPLE_TREE, sampleRows } from '../../support/sample-tree.js'
import { expectError } from '../../support/servers/error-response.js'
import { rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { startTestServer, useServerOver } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, putFile, weekPath, weekRows, windowBytes } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const server = useServerOver(() => SAMPLE_TREE)
const TARGET = '/export/1h/BTCUSDT.csv'
const ask = (headers: Record<string, string>, method = 'GET') => server.request(TARGET, { method, headers })

describe('an export is a file that readers of files over HTTP take', () => {
  it('hyparquet reads the footer and the columns by ranges, and gets every row', async () => {
    const file = await asyncBufferFromUrl({
      url: `${server.url()}/export/1h/BTCUSDT.parquet?numbers=text&compression=snappy`,
    })
    const rows = await parquetReadObjects({ file, columns: ['open_time', 'close'] })
    const expected = sampleRows('BTCUSDT', '1h').map(row => ({ open_time: new Date(Number(row[0])), close: row[4] }))
    expect(rows).toEqual(expected)
  })

  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=100-', 100, undefined],
    ['bytes=-7', -7, undefined],
  ])('%s: 206 with that part', async (range, start, end) => {
    const { body: whole } = await ask({})
    const { status, headers, body } = await ask({ range })
    const part = whole.subarray(start, end)
    expect([status, body.equals(part), headers['content-length']]).toEqual([206, true, String(part.length)])
    const first = whole.length - (start < 0 ? -start : whole.length - start)
    expect(headers['content-range']).toBe(`bytes ${first}-${first + part.length - 1}/${whole.length}`)
  })

  it('a download that is whole already is 416, with its size, as curl -C - takes it', async () => {
    const { length } = (await ask({})).body
    const response = await sendRaw(server.url(), rawRequest(`GET ${TARGET}`, [`Range: bytes=${length}-`]))
    expectError(response, 416)
    expect(response.headers['content-range']).toBe(`bytes */${length}`)
  })

  it('one that the client has already is 304, without a body', async () => {
    const { headers } = await ask({}, 'HEAD')
    const etag = String(headers.etag)
    for (const method of ['GET', 'HEAD']) {
      const same = await ask({ 'if-none-match': etag }, method)
      expect([same.status, same.body.length, same.headers.etag]).toEqual([304, 0, etag])
    }
    expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200)
  })

  it('If-Range: a part of the same file, and all of one that has changed since', async () => {
    const root = makeTree(tempFolder())
    const { request } = await startTestServer(root)
    const target = '/export/15m/BTCUSDT.csv'
    const { headers } = await request(target, { method: 'HEAD' })
    const part = () => request(target, { headers: { range: 'bytes=10-19', 'if-range': String(headers.etag) } })
    expect((await part()).status).toBe(206)
    const rows = weekRows(FULL_WEEKS[0])
    rows[0][4] = '7.77'
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), windowBytes(rows))
    const { status, body } = await part()
    expect([status, String(body).includes(',7.77,')]).toEqual([200, true])
  })
})
