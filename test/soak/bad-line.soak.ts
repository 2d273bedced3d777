import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { startFaultProxy } from '../faults/support/fault-proxy.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { SoakedMirror } from './support/soaked-mirror.js'

const SEEDS = Array.from({ length: times(20) }, (_, index) => index + 1)
/** The whole slice at the full figures, a third of it for a look. */
const SYMBOLS = SEEDS.length < 20 ? ['BTCUSDT'] : ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']
const FAULT_RATE = 0.2
/** Connections end soon, so that faults come all along. */
const REQUESTS_A_CONNECTION = 4
const MOST_RUNS = 10
const MOST_MEMORY_MB = 250

const rows: Record<string, Record<string, number | string>> = {}
afterAll(() => printFigures(`${SYMBOLS.join(', ')} over a bad line`, rows))

describe.skipIf(!hasRealTree)('a line on which one connection in five is bad', () => {
  it.each(SEEDS)('brings every byte, whatever it takes; seed %d', async seed => {
    const server = await TreeServer.start(realTree())
    server.requestsPerConnection = REQUESTS_A_CONNECTION
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
      expect(run.memoryMB).toBeLessThan(MOST_MEMORY_MB)
    } while (codes.at(-1) !== 0 && codes.length < MOST_RUNS)
    expect(codes.at(-1)).toBe(0)
    await mirror.expectComplete()
    const { none, ...bad } = proxy.faultCounts
    rows[`seed ${seed}`] = {
      runs: codes.length,
      'longest run, s': Math.max(...seconds),
      'most memory, MB': Math.max(...memory),
      requests: server.log.length,
      connections: none + Object.values(bad).reduce((sum, count) => sum + count, 0),
      ...bad,
    }
  })
})
