import { readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { type MadeSymbol, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { putFile } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const SYMBOL = 'OLDUSDT'
const DELISTED: MadeSymbol = { from: '2026-01-10T06:00Z', until: '2026-03-20T10:15Z' }
/** With candles of minutes. On Sunday: at the present, on Thursday, all windows of days and of this week can change no more. */
const MINUTES: MadeSymbol = { from: '2026-04-25T06:00Z', until: '2026-04-26T10:17Z', minutes: 1 }
const LAST_DAY = `api/klines/1min/${SYMBOL}/2026-04-26.json`
const ALL = ['-i', '1m,3m,5m,15m,1h']
/** In the mirror of the sandbox, without lines for the progress. */
const MIRROR = ['--mirror', 'm', '-q']

/** A sandbox with a mirror of an exchange that trades one symbol, and what tests do with it. */
async function setup(symbol: MadeSymbol = DELISTED) {
  const exchange = await ExchangeServer.start(madeMarket({ [SYMBOL]: symbol }, { until: '2026-05-05' }))
  const sandbox = newSandbox()
  // Without a start there would be a file of minutes for each day since 2017.
  const from = symbol.minutes ? ['--from', '2026-04-20'] : []
  /** Downloads at a time of the exchange, ms UTC. */
  const download = async (args: readonly string[], now = EXCHANGE_NOW) => {
    exchange.now = sandbox.now = now
    const place = ['--base-url', `binance:${exchange.url}`, ...MIRROR, ...from]
    return sandbox.call(['download', SYMBOL, ...args, ...place])
  }
  const candles = async (args: readonly string[]) => {
    const run = await sandbox.call(['export', SYMBOL, ...args, '-f', 'csv', '-o', '-', ...MIRROR])
    expect(run.code).toBe(0)
    return run.stdout.trimEnd().split('\n').slice(1)
  }
  const verify = async (args: readonly string[] = ALL) => {
    const run = await sandbox.call(['verify', SYMBOL, ...args, '--mirror', 'm'])
    return { code: run.code, verdict: run.stdout.split('\n')[0] }
  }
  return { sandbox, download, candles, verify }
}

const MONTHS = ['-i', '1h', '--resample', '1M']
/** The days on which candles open. */
const days = (rows: readonly string[]) =>
  rows.map(row => new Date(Number(row.split(',')[0])).toISOString().slice(0, 10))

describe('the last resampled candle of a delisted symbol', () => {
  it('is that of the exchange: the windows after its last part have no more', async () => {
    const { download, candles } = await setup()
    expect(await download(['-i', '1h,1M'])).toMatchObject({ code: 0, stderr: '' })
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
        const lake = ['-i', '1h', '--resample', target, '--layout', 'hive', '-o', `lake-${target}`]
        expect(await download(lake, Date.parse(day))).toMatchObject({ code: 0, stderr: '' })
        rows.push(JSON.parse(sandbox.text(`lake-${target}/_klines.json`)).series[0].part.rows)
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
    expect(await download(['-i', '1h'])).toMatchObject({ code: 0, stderr: '' })
    expect(days(await candles(MONTHS))).toEqual(['2026-02-01', '2026-03-01'])
    expect(days(await candles([...MONTHS, '--partial'])).at(-1)).toBe('2026-04-01')
  })

  it('in the tree of a static service, whose times say nothing', async () => {
    const { sandbox, download, candles } = await setup()
    expect(await download(['-i', '1h'])).toMatchObject({ code: 0, stderr: '' })
    putFile(sandbox.path('m'), 'mirror.json', { layout: 1, baseUrl: 'https://candles.example/' })
    expect(days(await candles(MONTHS))).toEqual(['2026-01-01', '2026-02-01'])
  })
})

const SOUND = { code: 0, verdict: expect.stringMatching(/^OK: \d series, [\d,]+ candles, [\d,]+ comparisons$/) }

describe('klines verify without a range, of a delisted symbol whose last window of minutes', () => {
  // The index knows the last minute, which ends at 10:17: 206 candles of 3m, 124 of 5m, 42 of 15m and 11 of 1h close by then; the first
  // 300 minutes confirm 100, 60, 20 and 5 of them.
  it('has its first 300 candles has failed: the other intervals have that day', async () => {
    const differ = 106 + 64 + 22 + 6
    const { sandbox, download, verify } = await setup(MINUTES)
    expect(await download(ALL)).toMatchObject({ code: 0 })
    expect(await verify()).toEqual(SOUND)
    const file = sandbox.path(`m/${LAST_DAY}`)
    const rows: KlineRow[] = JSON.parse(readFileSync(file, 'utf8'))
    // The file keeps its time.
    putFile(sandbox.path('m'), LAST_DAY, rows.slice(0, 300), statSync(file).mtimeMs)
    const failed = { code: 6, verdict: `FAILED: 5 of 5 series: ${differ} candles differ, 1 window is corrupt` }
    expect(await verify()).toEqual(failed)
    expect(await verify([...ALL, '--from', '2026-04-25'])).toEqual(failed)
    // The file is not as the index says, so that the next download mends it.
    expect(await download(ALL)).toMatchObject({ code: 0 })
    expect(await verify()).toEqual(SOUND)
  })
})

describe('klines verify without a range says OK of a mirror of the exchange', () => {
  it('whose intervals were downloaded at different times, while the symbol was traded', async () => {
    const { download, verify } = await setup({ from: '2026-04-26T21:00Z', minutes: 1 })
    for (const [intervals, now] of [
      ['1m,15m', '2026-04-27T10:00Z'],
      ['3m', '2026-04-27T18:30Z'],
      ['5m,1h', '2026-04-30T04:20Z'],
    ])
      expect(await download(['-i', intervals], Date.parse(now))).toMatchObject({ code: 0 })
    expect(await verify()).toEqual(SOUND)
  })
})
