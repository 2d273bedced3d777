import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filesBelow } from '../../support/files-below.js'
import { hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { MeasuredServer } from '../../support/servers/measured-server.js'

const CONNECTIONS = 12
const MB = 1024 * 1024
/** The limit on cached bodies with their codings. The whole slice takes more than twice that. */
const MAX_BODIES = 64 * MB
/** Other memory: garbage, codings in progress, what the allocator keeps. */
const SLACK = 160 * MB

const decoders = { identity: async (bytes: Buffer) => bytes, gzip: promisify(gunzip), br: promisify(brotliDecompress) }
const CODINGS = ['identity', 'gzip', 'br'] as const

describe.runIf(hasRealTree)('a server over the real slice (skipped without ../shared/data)', () => {
  let root: string
  let files: string[]
  let server: MeasuredServer
  let initial: { rss: number; buffers: number }
  let pool: Pool
  beforeAll(async () => {
    root = realTree()
    const all = filesBelow(join(root, 'api')).map(file => `api/${file}`)
    expect(all).toHaveLength(5_344)
    files = all
    server = await MeasuredServer.start(root)
    initial = await server.memory()
    pool = new Pool(server.url, { connections: CONNECTIONS })
  })
  afterAll(async () => {
    await pool?.destroy()
    server?.stop()
  })

  async function get(path: string, coding: string): Promise<{ status: number; coding: string; body: Buffer }> {
    const headers = { 'accept-encoding': coding }
    const { statusCode, headers: received, body } = await pool.request({ path: `/${path}`, method: 'GET', headers })
    const bytes = Buffer.from(await body.arrayBuffer())
    if (received['content-length'] !== String(bytes.length)) throw new Error(`${path}: ${received['content-length']}`)
    return { status: statusCode, coding: String(received['content-encoding'] ?? 'identity'), body: bytes }
  }

  /** Requests every file in every coding; returns the wrong responses, and the number of coded ones. */
  async function requestAll(paths: readonly string[]): Promise<{ faults: string[]; coded: number }> {
    const faults: string[] = []
    const remaining = paths.values()
    let coded = 0
    const work = async () => {
      for (const file of remaining) {
        const bytes = readFileSync(join(root, file))
        for (const wanted of CODINGS) {
          const { status, coding, body } = await get(file, wanted)
          const isExpected = coding === (bytes.length < 256 ? 'identity' : wanted)
          const isSame = isExpected && (await decoders[coding as keyof typeof decoders](body)).equals(bytes)
          if (status !== 200 || !isSame) faults.push(`${file} as ${wanted}: ${status} in ${coding}`)
          if (coding !== 'identity') coded++
        }
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    return { faults, coded }
  }

  it('returns each file byte by byte, uncoded, in gzip and in br', async () => {
    const { faults, coded } = await requestAll(files)
    expect(faults).toEqual([])
    expect(coded).toBe(2 * files.filter(file => readFileSync(join(root, file)).length >= 256).length)
  })

  it('takes no more memory than the limit on bodies and some slack, also when files are requested again', async () => {
    const first = await server.memory()
    // Half of the files of the whole slice still exceed the limit.
    expect((await requestAll(files.filter((_, index) => index % 2 === 0))).faults).toEqual([])
    const second = await server.memory()
    for (const { rss, buffers } of [first, second]) {
      expect(buffers).toBeLessThan(initial.buffers + MAX_BODIES)
      expect(rss).toBeLessThan(initial.rss + MAX_BODIES + SLACK)
    }
    // The cache is in use, so the next client is served from memory.
    expect(second.buffers).toBeGreaterThan(initial.buffers + MAX_BODIES / 4)
  })

  it('returns [] for a missing window of the future, and 404 for one of the past', async () => {
    for (const [interval, startDate] of [
      ['15m', '2039-12-26'],
      ['1h', '2039-12-01'],
      ['1d', '2038-01-01'],
    ]) {
      const { status, body } = await get(`api/klines/${interval}/ETHUSDT/${startDate}.json`, 'gzip')
      expect([status, String(body)]).toEqual([200, '[]'])
    }
    for (const [interval, startDate] of [
      ['15m', '2024-12-30'],
      ['1h', '2022-01-01'],
      ['1M', '2010-01-01'],
    ]) {
      const { status, body } = await get(`api/klines/${interval}/ETHUSDT/${startDate}.json`, 'gzip')
      expect([status, JSON.parse(String(body)).statusCode]).toEqual([404, 404])
    }
  })
})
