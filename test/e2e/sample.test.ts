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

  it('needs no network: a proxy at an unreachable address is not used', async () => {
    const dead = 'http://127.0.0.1:9'
    const proxies = { HTTP_PROXY: dead, http_proxy: dead, HTTPS_PROXY: dead, https_proxy: dead, ALL_PROXY: dead }
    const sandbox = newSandbox()
    const run = await sandbox.call('download ETHUSDT -i 1d --base-url sample -o eth.csv'.split(' '), proxies)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.text('eth.csv')).toBe(csvOf(sampleRows('ETHUSDT', '1d')))
  })

  it('exports every interval of both symbols as in its window files', async () => {
    const sandbox = newSandbox()
    const args = 'download btc/usdt ETH-USDT -i all --base-url sample -o {symbol}-{interval}.json'
    expect(await sandbox.call(args.split(' '))).toMatchObject({ code: 0, stderr: '' })
    for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
      for (const interval of ALL_INTERVALS) {
        const rows = sampleRows(symbol, interval)
        expect(rows.length).toBeGreaterThan(0)
        expect(JSON.parse(sandbox.text(`${symbol}-${interval}.json`)), `${symbol} ${interval}`).toEqual(rows)
      }
    }
    expect(sandbox.files()).toHaveLength(24)
  })
})
