import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { verifyKlines } from '../../src/verify/verify.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'

const newSandbox = useSandboxes()
const ALL = ['verify', 'all', '-i', 'all', '--mirror', 'm', '--json']

/** A sandbox with links to the files of the real tree, which has enough windows for threads. */
function sandboxWithRealTree() {
  const sandbox = newSandbox()
  execFileSync('cp', ['-rl', realTree(), sandbox.path('m')])
  return sandbox
}

/** Changes the first volume of a window file. */
function changeVolume(file: string, volume: string): void {
  const rows = JSON.parse(readFileSync(file, 'utf8'))
  rows[0][5] = volume
  // This removes the link, not the shared file.
  rmSync(file)
  writeFileSync(file, JSON.stringify(rows))
}

describe.skipIf(!hasRealTree)('verifying a mirror with threads (skipped without ../shared/data)', () => {
  it('has the same result as without them', async () => {
    const run = await sandboxWithRealTree().run(ALL)
    const { series, comparisons, differences } = JSON.parse(run.stdout)
    const alone = await verifyKlines({ symbols: 'all', intervals: 'all', mirror: realTree(), threads: 1 })
    expect([run.code, run.stderr]).toEqual([0, ''])
    expect(comparisons).toBe(661_818)
    expect(differences).toEqual(alone.differences)
    expect(differences).toMatchObject([
      { interval: '6h', openTime: Date.parse('2017-09-06T12:00Z'), column: 'close_time' },
    ])
    const brief = (all: { symbol: string; interval: string; candles: number; unverified?: number | undefined }[]) =>
      all.map(({ symbol, interval, candles, unverified }) => [symbol, interval, candles, unverified])
    expect(brief(series)).toEqual(brief([...alone.series]))
  })

  it.each(['BTCUSDT', 'DOTUSDT'])('a changed value of %s is reported, whichever thread has read it', async symbol => {
    const sandbox = sandboxWithRealTree()
    changeVolume(sandbox.path(`m/api/klines/1d/${symbol}/2024-01-01.json`), '1234567890123456.0')
    const run = await sandbox.run(ALL)
    expect(run.code).not.toBe(0)
    expect(run.stdout).toContain(`${symbol} 1d`)
    expect(run.stdout).toContain('volume is 1234567890123456.0')
  })

  describe('a close time that is 1 ms off in a candle that closes early', () => {
    const TIME = Date.parse('2017-09-06T12:00Z')
    const halfYear = (symbol: string) => `m/api/klines/6h/${symbol}/2017-07-01.json`
    /** ETHUSDT with the same 2h and 6h candles as BTCUSDT at that time. */
    function sandboxWithTwin() {
      const sandbox = sandboxWithRealTree()
      for (const interval of ['2h', '6h']) {
        const folder = sandbox.path(`m/api/klines/${interval}`)
        execFileSync('cp', ['-rl', `${folder}/BTCUSDT`, `${folder}/ETHUSDT`])
      }
      return sandbox
    }
    function changeRow(file: string, change: (row: (string | number)[]) => void): void {
      const rows = JSON.parse(readFileSync(file, 'utf8'))
      change(rows.find((row: number[]) => row[0] === TIME))
      rmSync(file)
      writeFileSync(file, JSON.stringify(rows))
    }

    it('is a note of any symbol: listed, counted, exit code 0', async () => {
      const sandbox = sandboxWithTwin()
      const run = await sandbox.run(['verify', 'all', '-i', '2h,6h', '--mirror', 'm'])
      expect(run.code).toBe(0)
      expect(run.stdout).toMatch(/^OK: 8 series, [\d,]+ candles, [\d,]+ comparisons, \d+ outages, 2 notes\n/)
      for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
        const values = 'close_time: 1504713600000,\\s+expected 1504713599999 \\(2h\\)'
        expect(run.stdout).toMatch(new RegExp(`^${symbol} 6h 2017-09-06 12:00 ${values}$`, 'm'))
      }
    })

    const FAULTS: [string, number, (row: (string | number)[]) => void][] = [
      ['2 ms', 1, row => (row[6] = 1504713600001)],
      ['1 ms and the number of trades', 2, row => (row[8] = Number(row[8]) + 1)],
    ]
    for (const [what, columns, change] of FAULTS)
      it(`is a fault when ${what} differ`, async () => {
        const sandbox = sandboxWithTwin()
        changeRow(sandbox.path(halfYear('ETHUSDT')), change)
        const run = await sandbox.run(['verify', 'all', '-i', '2h,6h', '--mirror', 'm'])
        expect(run.code).toBe(6)
        expect(run.stdout).toMatch(/^FAILED: 1 of 8 series: 1 candle differs\n/)
        const [faults, notes] = run.stdout.split('\nNotes:')
        expect(faults.match(/^ETHUSDT 6h 2017-09-06 12:00 /gm)).toHaveLength(columns)
        expect(notes).toContain('\nBTCUSDT 6h 2017-09-06 12:00 close_time')
      })
  })
})
