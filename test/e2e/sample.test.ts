import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesBelow, PROJECT, useDesks } from '../support/cli/cli-sandbox.js'
import { ALL_INTERVALS, csvOf, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'

const newDesk = useDesks()

describe.concurrent('the bundled sample', () => {
  it('gives its 2,181 hourly candles as CSV, and says that they are made', async () => {
    const desk = newDesk()
    const run = await desk.run('download BTCUSDT -i 1h --base-url sample -o btcusdt-1h.csv'.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(desk.text('btcusdt-1h.csv')).toBe(csvOf(sampleRows('BTCUSDT', '1h')))
    expect(desk.text('btcusdt-1h.csv').trimEnd().split('\n')).toHaveLength(2182)
    expect(run.stdout).toContain('2,181 candles')
    expect(run.stdout).toContain('MADE candles')
    expect(desk.files()).toEqual(['btcusdt-1h.csv'])
  })

  it('needs no network: a proxy at a dead address does not matter', async () => {
    const dead = 'http://127.0.0.1:9'
    const proxies = { HTTP_PROXY: dead, http_proxy: dead, HTTPS_PROXY: dead, https_proxy: dead, ALL_PROXY: dead }
    const desk = newDesk()
    const run = await desk.run('download ETHUSDT -i 1d --base-url sample -o eth.csv'.split(' '), proxies)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(desk.text('eth.csv')).toBe(csvOf(sampleRows('ETHUSDT', '1d')))
  })

  it('gives every interval of both symbols as its window files have them', async () => {
    const desk = newDesk()
    const args = 'download btc/usdt ETH-USDT -i all --base-url sample -o {symbol}-{interval}.json'
    expect(await desk.run(args.split(' '))).toMatchObject({ code: 0, stderr: '' })
    for (const symbol of ['BTCUSDT', 'ETHUSDT']) {
      for (const interval of ALL_INTERVALS) {
        const rows = sampleRows(symbol, interval)
        expect(rows.length).toBeGreaterThan(0)
        expect(JSON.parse(desk.text(`${symbol}-${interval}.json`)), `${symbol} ${interval}`).toEqual(rows)
      }
    }
    expect(desk.files()).toHaveLength(24)
  })

  it('is what its script makes, byte by byte', async () => {
    const desk = newDesk()
    expect(await desk.node([join(PROJECT, 'fixtures', 'make-sample.js'), desk.path('made')])).toMatchObject({ code: 0 })
    const made = desk.files('made')
    expect(made).toEqual(filesBelow(SAMPLE_TREE))
    const differing = made.filter(name => !readFileSync(join(SAMPLE_TREE, name)).equals(desk.bytes(join('made', name))))
    expect(differing).toEqual([])
  })
})
