import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filesBelow } from '../../support/cli/cli-sandbox.js'
import { hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { MeasuredServer } from '../../support/servers/measured-server.js'

const CONNECTIONS = 12
const MB = 1024 * 1024
/** The bound on bodies, codings included. The slice takes more than twice that. */
const MOST_BODIES = 64 * MB
/** What else there may be: garbage, codings under way, what the allocator keeps. */
const SLACK = 160 * MB

const decoders = { identity: async (bytes: Buffer) => bytes, gzip: promisify(gunzip), br: promisify(brotliDecompress) }
const CODINGS = ['identity', 'gzip', 'br'] as const

describe.runIf(hasRealTree)('the real slice', () => {
  let root: string
  let files: string[]
  let server: MeasuredServer
  let atFirst: { rss: number; buffers: number }
  let pool: Pool
  beforeAll(async () => {
    root = realTree()
    files = filesBelow(join(root, 'api')).map(file => `api/${file}`)
    server = await MeasuredServer.start(root)
    atFirst = await server.memory()
    pool = new Pool(server.url, { connections: CONNECTIONS })
  })
  afterAll(async () => {
    await pool?.destroy()
    server?.stop()
  })

  async function get(path: string, coding: string): Promise<{ status: number; coding: string; body: Buffer }> {
    const headers = { 'accept-encoding': coding }
    const { statusCode, headers: answered, body } = await pool.request({ path: `/${path}`, method: 'GET', headers })
    const bytes = Buffer.from(await body.arrayBuffer())
    if (answered['content-length'] !== String(bytes.length)) throw new Error(`${path}: ${answered['content-length']}`)
    return { status: statusCode, coding: String(answered['content-encoding'] ?? 'identity'), body: bytes }
  }

  /** Asks for every file in every coding; which answers were not the file, and how many were coded. */
  async function walk(): Promise<{ faults: string[]; coded: number }> {
    const faults: string[] = []
    const rest = files.values()
    let coded = 0
    const work = async () => {
      for (const file of rest) {
        const bytes = readFileSync(join(root, file))
        for (const wanted of CODINGS) {
          const { status, coding, body } = await get(file, wanted)
          const isRight = coding === (bytes.length < 256 ? 'identity' : wanted)
          const same = isRight && (await decoders[coding as keyof typeof decoders](body)).equals(bytes)
          if (status !== 200 || !same) faults.push(`${file} as ${wanted}: ${status} in ${coding}`)
          if (coding !== 'identity') coded++
        }
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    return { faults, coded }
  }

  it('is served whole, each of 5,344 files byte by byte, as it is, in gzip and in br', {
    timeout: 180_000,
  }, async () => {
    expect(files).toHaveLength(5_344)
    const { faults, coded } = await walk()
    expect(faults).toEqual([])
    expect(coded).toBe(2 * files.filter(file => readFileSync(join(root, file)).length >= 256).length)
  })

  it('twice takes no more memory than the bound on bodies and some slack', { timeout: 180_000 }, async () => {
    const once = await server.memory()
    expect((await walk()).faults).toEqual([])
    const twice = await server.memory()
    for (const { rss, buffers } of [once, twice]) {
      expect(buffers).toBeLessThan(atFirst.buffers + MOST_BODIES)
      expect(rss).toBeLessThan(atFirst.rss + MOST_BODIES + SLACK)
    }
    // It holds what it may, so the next client is served from memory.
    expect(twice.buffers).toBeGreaterThan(atFirst.buffers + MOST_BODIES / 4)
  })

  it('has [] for a window of the future of a symbol it does not hold, and no false [] for one of the past', async () => {
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
