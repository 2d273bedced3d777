import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { ALL_INTERVALS, csvOf, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()

describe.concurrent('the bundled sample', () => {
  it('exports its 2,181 hourly candles as CSV, and says that they are synthetic', async () => {
    const sandbox = newSandbox()
    const run = await sandbox.run('download BTCUSDT -i 1h --base-url sample -o btcusdt-1h.csv'.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.text('btcusdt-1h.csv')).toBe(csvOf(sampleRows('BTCUSDT', '1h')))
    expect(sandbox.text('btcusdt-1h.csv').trimEnd().split('\n')).toHaveLength(2182)
    expect(run.stdout).toContain('2,181 candles')
    expect(run.stdout).toContain('synthetic sample data')
    expect(sandbox.files()).toEqual(['btcusdt-1h.csv'])
  })

  it('exports every interval of both symbols as in its window files, without a network: a proxy at an unreachable address is not used', async () => {
    const dead = 'http://127.0.0.1:9'
    const proxies = { HTTP_PROXY: dead, http_proxy: dead, HTTPS_PROXY: dead, https_proxy: dead, ALL_PROXY: dead }
    const sandbox = newSandbox()
    const args = 'download btc/usdt ETH-USDT -i all --base-url sample -o {symbol}-{interval}.json'.split(' ')
    const run = await sandbox.call(args, proxies)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    let total = 0
    for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
      for (const interval of ALL_INTERVALS) {
        const rows = sampleRows(symbol, interval)
        expect(rows.length).toBeGreaterThan(0)
        total += rows.length
        expect(sandbox.text(`${symbol}-${interval}.json`) === JSON.stringify(rows), interval).toBe(true)
      }
    }
    expect(sandbox.files()).toHaveLength(24)
    const count = total.toLocaleString('en')
    expect(run.stdout).toMatch(RegExp(`^symbol .*\nBTCUSDT +12 .*\nETHUSDT +12 .*\ntotal +24 series +${count} `))
    expect(run.stdout).toMatch(RegExp(`^24 files, BTCUSDT\\S+ to ETHUSDT\\S+: ${count} candles, `, 'm'))
    const each = await sandbox.call([...args.slice(0, -2), '--per-series'])
    expect(each.stdout.match(/^(BTC|ETH)USDT +\d+\w +\d/gm)).toHaveLength(24)
  })
})
