import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'

const newSandbox = useSandboxes()

describe.skipIf(!hasRealTree)('verifying all real candles with threads (skipped without ../shared/data)', () => {
  it('finds the one early close of the exchange, and a changed volume, and nothing else', async () => {
    const sandbox = newSandbox()
    execFileSync('cp', ['-rl', realTree(), sandbox.path('m')])
    const file = sandbox.path('m/api/klines/1d/DOTUSDT/2024-01-01.json')
    const rows = JSON.parse(readFileSync(file, 'utf8'))
    rows[0][5] = '123456.00000000'
    // This removes the link, not the shared file.
    rmSync(file)
    writeFileSync(file, JSON.stringify(rows))
    const run = await sandbox.run(['verify', 'all', '-i', 'all', '--mirror', 'm', '--json', '--threads', '2'])
    const { comparisons, differences, series } = JSON.parse(run.stdout)
    expect([run.code, run.stderr, comparisons]).toEqual([6, '', 661_818])
    const dots = differences.filter(({ symbol }: { symbol: string }) => symbol === 'DOTUSDT')
    expect(new Set(dots.map(({ column }: { column: string }) => column))).toEqual(new Set(['volume']))
    expect(dots).toContainEqual(expect.objectContaining({ interval: '1d', value: '123456.00000000' }))
    const others = differences.filter(({ symbol }: { symbol: string }) => symbol !== 'DOTUSDT')
    expect(others).toMatchObject([
      { symbol: 'BTCUSDT', interval: '6h', openTime: Date.parse('2017-09-06T12:00Z'), column: 'close_time' },
    ])
    expect(series.filter(({ unverified }: { unverified?: number }) => unverified === undefined).length).toBe(0)
  })
})
