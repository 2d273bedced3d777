import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Pool } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import { filesBelow } from '../../support/files-below.js'
import { hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { startTestServer } from '../../support/servers/test-server.js'

const decoders = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync }
const CODINGS = ['identity', 'gzip', 'br'] as const

it.runIf(hasRealTree)(
  'files of two symbols of the real slice come byte by byte, uncoded, in gzip or in br (skipped without ../shared/data)',
  async () => {
    const root = realTree()
    const all = filesBelow(join(root, 'api')).map(file => `api/${file}`)
    const windows = all.filter(file => /BTCUSDT|DOTUSDT/.test(file))
    const files = all.filter(file => /start-dates/.test(file)).concat(windows.filter((_, index) => index % 13 === 0))
    expect(files.length).toBeGreaterThan(80)
    const { url, request } = await startTestServer(root, { now: Date.now })
    const pool = new Pool(url, { connections: 12 })
    onTestFinished(() => pool.destroy())
    const faults: string[] = []
    const remaining = files.entries()
    const work = async () => {
      for (const [index, file] of remaining) {
        const wanted = CODINGS[index % 3]
        const { statusCode, headers, body } = await pool.request({
          path: `/${file}`,
          method: 'GET',
          headers: { 'accept-encoding': wanted },
        })
        const bytes = Buffer.from(await body.arrayBuffer())
        const original = readFileSync(join(root, file))
        const coding = String(headers['content-encoding'] ?? 'identity') as typeof wanted
        const isExpected = coding === (original.length < 256 ? 'identity' : wanted)
        if (statusCode !== 200 || !isExpected || !decoders[coding](bytes).equals(original))
          faults.push(`${file} as ${wanted}: ${statusCode} in ${coding}`)
      }
    }
    await Promise.all(Array.from({ length: 12 }, work))
    expect(faults).toEqual([])
    for (const [window, status] of [
      ['15m/ETHUSDT/2039-12-26', 200],
      ['1d/ETHUSDT/2038-01-01', 200],
      ['15m/ETHUSDT/2024-12-30', 404],
      ['1M/ETHUSDT/2010-01-01', 404],
    ])
      expect([window, (await request(`api/klines/${window}.json`)).status]).toEqual([window, status])
  },
)
