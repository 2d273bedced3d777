import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { type MadeSymbol, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { putFile } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const SYMBOL = 'OLDUSDT'
const DELISTED: MadeSymbol = { from: '2026-01-10T06:00Z', until: '2026-03-20T10:15Z' }
/** In the mirror of the sandbox, without lines for the progress. */
const MIRROR = ['--mirror', 'm', '-q']

/** A sandbox, and an exchange that trades one symbol. */
async function setup(symbol: MadeSymbol = DELISTED) {
  const exchange = await ExchangeServer.start(madeMarket({ [SYMBOL]: symbol }))
  const sandbox = newSandbox()
  /** Downloads at a time of the exchange, ms UTC. */
  const download = async (args: readonly string[], now = EXCHANGE_NOW) => {
    exchange.now = sandbox.now = now
    const run = await sandbox.call(['download', SYMBOL, ...args, '--base-url', `binance:${exchange.url}`, ...MIRROR])
    expect(run).toMatchObject({ code: 0, stderr: '' })
  }
  const candles = async (args: readonly string[]) => {
    const run = await sandbox.call(['export', SYMBOL, ...args, '-f', 'csv', '-o', '-', ...MIRROR])
    expect(run.code).toBe(0)
    return run.stdout.trimEnd().split('\n').slice(1)
  }
  return { sandbox, download, candles }
}

const MONTHS = ['-i', '1h', '--resample', '1M']
/** The days on which candles open. */
const days = (rows: readonly string[]) =>
  rows.map(row => new Date(Number(row.split(',')[0])).toISOString().slice(0, 10))

describe('the last resampled candle of a delisted symbol', () => {
  it('is that of the exchange: the windows after its last part have no more', async () => {
    const { download, candles } = await setup()
    await download(['-i', '1h,1M'])
    const own = await candles(['-i', '1M'])
    expect(days(own)).toEqual(['2026-01-01', '2026-02-01', '2026-03-01'])
    // The source of the first candle reaches back to before its start.
    expect(await candles(MONTHS)).toEqual(own)
    expect(await candles(['-i', '1h', '--resample', '1w'])).toEqual(
      await candles(['-i', '1h', '--resample', '1w', '--partial']),
    )
  })

  it('comes into a lake as soon as it is known to be the last one, though no window has changed', async () => {
    const { sandbox, download, candles } = await setup()
    // A month can change for a day after its end. The last week ends in the middle of a window.
    const days = ['2026-04-01T06:00Z', '2026-04-02T06:00Z']
    for (const target of ['1M', '1w']) {
      const rows: number[] = []
      for (const day of days) {
        await download(['-i', '1h', '--resample', target, '--layout', 'hive', '-o', `lake-${target}`], Date.parse(day))
        rows.push(JSON.parse(sandbox.text(`lake-${target}/_klines.json`)).series[0].parts[0].rows)
      }
      const { length } = await candles(['-i', '1h', '--resample', target])
      expect(rows).toEqual([length - 1, length])
      await sandbox.shell('rm -r m')
    }
  })
})

describe('the last resampled candle is left out', () => {
  it('of a symbol that is traded', async () => {
    const { download, candles } = await setup({ from: '2026-02-10T06:00Z' })
    await download(['-i', '1h'])
    expect(days(await candles(MONTHS))).toEqual(['2026-02-01', '2026-03-01'])
    expect(days(await candles([...MONTHS, '--partial'])).at(-1)).toBe('2026-04-01')
  })

  it('in the tree of a static service, whose times say nothing', async () => {
    const { sandbox, download, candles } = await setup()
    await download(['-i', '1h'])
    putFile(sandbox.path('m'), 'mirror.json', { layout: 1, baseUrl: 'https://candles.example/' })
    expect(days(await candles(MONTHS))).toEqual(['2026-01-01', '2026-02-01'])
  })
})
