import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bigMirror } from '../support/big-mirror.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { oneOf } from '../support/full.js'
import { peakMemory } from '../support/process-figures.js'
import { expectError } from '../support/servers/error-response.js'
import { RawClient, rawRequest, sendRaw } from '../support/servers/raw-client.js'
import { type ServeProcess, startServeCommand } from '../support/servers/serve-command.js'
import { putFile, weekPath } from '../support/synthetic-tree.js'

const CONNECTIONS = 40
const EXTENSIONS = oneOf(6, ['jsonl', 'parquet', 'arrow', 'csv.gz', 'csv', 'json'])
const MOST_BYTES = 250 * 1024 * 1024
/** Enough for files that no buffer of a connection holds, and for more than one row group. */
const WEEKS = 160
const TO = '2028-01-24'

const newSandbox = useSandboxes()
let root: string

beforeAll(() => {
  root = bigMirror(mkdtempSync(join(tmpdir(), 'klines-exports-')), { symbols: ['BTCUSDT'], weeks: WEEKS })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const exportRequest = (extension: string) => rawRequest(`GET /export/15m/BTCUSDT.${extension}?to=${TO}`)

describe('F64 exports that are never read', () => {
  it.each(EXTENSIONS)('%s: take bounded memory, and leave others their turn', async extension => {
    const server = await startServeCommand(newSandbox(), ['--mirror', root])
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawClient.open(server.url)))
    for (const client of clients) {
      client.socket.pause()
      // Further exports on a connection wait, or are refused.
      for (let count = 0; count < 20; count++) client.send(exportRequest(extension))
    }
    // While others get their turns, an export of text that does not wait for its client comes to its end. One of columns keeps
    // many rows anyway.
    const turns = ['parquet', 'arrow'].includes(extension) ? 1 : WEEKS
    const other = await RawClient.open(server.url)
    for (let turn = 0; turn < turns; turn++) {
      other.send(rawRequest(`GET /${weekPath('BTCUSDT', '2025-01-06')}`))
      const { status, body } = await other.next()
      expect([status, JSON.parse(String(body)).length]).toEqual([200, 672])
    }
    other.close()
    for (const client of clients) client.close()
    const small = rawRequest('GET /export/15m/BTCUSDT.csv?to=2025-01-13')
    const getFour = async () => {
      const responses = await Promise.all(Array.from({ length: 4 }, () => sendRaw(server.url, small)))
      return responses.map(({ status }) => status)
    }
    await expect.poll(getFour).toEqual([200, 200, 200, 200])
    const sandbox = newSandbox()
    const args = ['BTCUSDT', '-i', '15m', '--to', TO, '--mirror', root, '-o', `file.${extension}`]
    expect(await sandbox.call(['export', ...args])).toMatchObject({ code: 0 })
    // A request that a client sent before it left may still begin.
    const isWhole = async () => {
      const { status, body } = await sendRaw(server.url, exportRequest(extension))
      return status === 503 ? 503 : body.equals(sandbox.bytes(`file.${extension}`))
    }
    await expect.poll(isWhole).toBe(true)
    expect(peakMemory(server.child.pid), 'bytes of memory').toBeLessThan(MOST_BYTES)
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('F58 a corrupt window in a mirror marked complete', () => {
  const KINDS = { BTCUSDT: 'cut', ETHUSDT: 'empty', BNBUSDT: 'oversized' }
  let server: ServeProcess

  beforeAll(async () => {
    const mirror = bigMirror(newSandbox().path('m'), { symbols: Object.keys(KINDS), weeks: 4 })
    putFile(mirror, 'mirror.json', { layout: 1, baseUrl: 'https://example.com', complete: true })
    putFile(mirror, 'api/klines/start-dates/15m.json', ['2024-12-30', '2025-01-06', '2025-01-13', '2025-01-20'])
    putFile(mirror, weekPath('BTCUSDT', '2025-01-06'), '[[1736121600000,"1')
    putFile(mirror, weekPath('ETHUSDT', '2025-01-06'), '')
    putFile(mirror, weekPath('BNBUSDT', '2025-01-06'), ' '.repeat(17 * 1024 * 1024))
    server = await startServeCommand(newSandbox(), ['--mirror', mirror])
  })
  afterAll(() => server.stop())

  it.each(Object.entries(KINDS))(
    '%s, whose window is %s: the export is 409 and names it, with the others whole',
    async symbol => {
      const get = (query: string) => sendRaw(server.url, rawRequest(`GET /export/15m/${symbol}.csv?${query}`))
      const { cause } = expectError(await get('to=2025-01-27'), 409)
      const message = expect.stringMatching(/^corrupt in the mirror: /)
      expect(cause).toEqual([{ symbol, interval: '15m', startDate: '2025-01-06', message }])
      const { status, body } = await get('from=2025-01-13&to=2025-01-27')
      expect([status, String(body).trimEnd().split('\n').length]).toEqual([200, 1 + 2 * 672])
    },
  )
})
