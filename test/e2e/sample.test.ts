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

  it('exports every interval as in its window files, without a network: a proxy at an unreachable address is not used', async () => {
    const dead = 'http://127.0.0.1:9'
    const proxies = { HTTP_PROXY: dead, http_proxy: dead, HTTPS_PROXY: dead, https_proxy: dead, ALL_PROXY: dead }
    const sandbox = newSandbox()
    const args = 'download ETH-USDT -i all --base-url sample -o {symbol}-{interval}.json'
    expect(await sandbox.call(args.split(' '), proxies)).toMatchObject({ code: 0, stderr: '' })
    for (const interval of ALL_INTERVALS) {
      const rows = sampleRows('ETHUSDT', interval)
      expect(rows.length).toBeGreaterThan(0)
      expect(sandbox.text(`ETHUSDT-${interval}.json`) === JSON.stringify(rows), interval).toBe(true)
    }
    expect(sandbox.files()).toHaveLength(12)
  })
})
