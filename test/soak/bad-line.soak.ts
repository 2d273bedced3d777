import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { startFaultProxy } from '../faults/support/fault-proxy.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { SoakedMirror } from './support/soaked-mirror.js'

const SEEDS = Array.from({ length: times(20) }, (_, index) => index + 1)
/** The whole slice in a full soak, a third of it in a short one. */
const SYMBOLS = SEEDS.length < 20 ? ['BTCUSDT'] : ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']
const FAULT_RATE = 0.2
/** Connections are closed after a few requests, so that faults occur throughout a run. */
const REQUESTS_PER_CONNECTION = 4
const MAX_RUNS = 10
const MAX_MEMORY_MB = 250

const rows: Record<string, Record<string, number | string>> = {}
afterAll(() => printFigures(`${SYMBOLS.join(', ')} over a faulty network`, rows))

describe.skipIf(!hasRealTree)('a network with one faulty connection in five (skipped without ../shared/data)', () => {
  it.each(SEEDS)('every byte is downloaded after some runs (seed %d)', async seed => {
    const server = await TreeServer.start(realTree())
    server.requestsPerConnection = REQUESTS_PER_CONNECTION
    const target = Number(new URL(server.url).port)
    const proxy = await startFaultProxy({ target, seed, faultRate: FAULT_RATE })
    onTestFinished(() => proxy.stop())
    const mirror = new SoakedMirror(SYMBOLS, proxy.url)
    const [codes, seconds, memory] = [[] as (number | null)[], [] as number[], [] as number[]]
    do {
      const run = await mirror.download()
      codes.push(run.code)
      seconds.push(Math.round(run.tookMs / 1000))
      memory.push(run.memoryMB)
      mirror.expectValid()
      expect([0, 3, 5], run.stderr).toContain(run.code)
      expect(run.stderr.trim() === '', run.stderr).toBe(run.code === 0)
      expect(run.stderr).not.toMatch(/^ +at .*:\d+|not expected/m)
      expect(run.memoryMB).toBeLessThan(MAX_MEMORY_MB)
    } while (codes.at(-1) !== 0 && codes.length < MAX_RUNS)
    expect(codes.at(-1)).toBe(0)
    await mirror.expectComplete()
    const { none, ...faulty } = proxy.faultCounts
    rows[`seed ${seed}`] = {
      runs: codes.length,
      'longest run, s': Math.max(...seconds),
      'peak memory, MB': Math.max(...memory),
      requests: server.log.length,
      connections: none + Object.values(faulty).reduce((sum, count) => sum + count, 0),
      ...faulty,
    }
  })
})
