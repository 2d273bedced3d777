import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { type MadeSymbol, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { putFile } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const SYMBOL = 'OLDUSDT'
const FROM = '2026-04-25T06:00Z'
/** On Sunday: at the present, on Thursday, all windows of days and of this week can change no more. */
const DELISTED = '2026-04-26T10:17Z'
const LAST_DAY = `api/klines/1min/${SYMBOL}/2026-04-26.json`
const ALL = ['-i', '1m,3m,5m,15m,1h']

/** A sandbox with a mirror of an exchange that trades one symbol, and what tests do with it. */
async function setup(made: Partial<MadeSymbol> = { until: DELISTED }) {
  const exchange = await ExchangeServer.start(madeMarket({ [SYMBOL]: { from: FROM, minutes: true, ...made } }))
  const sandbox = newSandbox()
  /** Downloads at a time of the exchange, ms UTC. */
  const download = async (args: readonly string[], now = EXCHANGE_NOW) => {
    exchange.now = sandbox.now = now
    // Without a start there would be a file for each day since 2017.
    const base = ['--base-url', `binance:${exchange.url}`, '--mirror', 'm', '--from', '2026-04-20']
    expect(await sandbox.call(['download', SYMBOL, ...args, ...base])).toMatchObject({ code: 0 })
  }
  const verify = async (args: readonly string[] = ALL) => {
    const run = await sandbox.call(['verify', SYMBOL, ...args, '--mirror', 'm'])
    return { code: run.code, verdict: run.stdout.split('\n')[0] }
  }
  /** Changes the rows of a file, which keeps its time. */
  const edit = (path: string, change: (rows: KlineRow[]) => KlineRow[]) => {
    const file = join(sandbox.path('m'), path)
    const { mtimeMs } = statSync(file)
    putFile(sandbox.path('m'), path, change(JSON.parse(readFileSync(file, 'utf8'))), mtimeMs)
  }
  return { sandbox, download, verify, edit }
}

const SOUND = { code: 0, verdict: expect.stringMatching(/^OK: \d series, [\d,]+ candles, [\d,]+ comparisons$/) }

describe('klines verify without a range, of a delisted symbol whose last window of minutes', () => {
  // The index knows the last minute, which ends at 10:17: 206 candles of 3m, 124 of 5m, 42 of 15m and 11 of 1h close by then; the first
  // 300 minutes confirm 100, 60, 20 and 5 of them.
  it.each<[string, number, number]>([['has its first 300 candles', 300, 106 + 64 + 22 + 6]])(
    '%s has failed: the other intervals have that day',
    async (_, rows, differ) => {
      const { download, verify, edit } = await setup()
      await download(ALL)
      expect(await verify()).toEqual(SOUND)
      edit(LAST_DAY, all => all.slice(0, rows))
      const failed = { code: 6, verdict: `FAILED: 5 of 5 series: ${differ} candles differ, 1 window is corrupt` }
      expect(await verify()).toEqual(failed)
      expect(await verify([...ALL, '--from', '2026-04-25'])).toEqual(failed)
      // The file is not as the index says, so that the next download mends it.
      await download(ALL)
      expect(await verify()).toEqual(SOUND)
    },
  )
})

describe('klines verify without a range says OK of a mirror of the exchange', () => {
  it('whose intervals were downloaded at different times, while the symbol was traded', async () => {
    const { download, verify } = await setup({})
    await download(['-i', '1m,15m'], Date.parse('2026-04-27T10:00Z'))
    await download(['-i', '3m'], Date.parse('2026-04-27T18:30Z'))
    await download(['-i', '5m,1h'], EXCHANGE_NOW)
    expect(await verify()).toEqual(SOUND)
  })
})
