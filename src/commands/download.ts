import { command } from '../cli/command.js'
import { downloadFlags } from '../cli/flags/candles.js'
import { symbolArgs } from '../cli/flags/selection.js'

export default command({
  summary: 'Download candles to the local mirror; export them with -o or -f.',
  description: `Downloads the windows of the range that are missing from the mirror or can still change. Final windows, which cannot change any more, are never downloaded again.

If a window cannot be downloaded, the others still are, nothing is exported, and the exit code is 3. Run the command again to download what is missing.

With --base-url binance, candles come from the exchange itself: any symbol, since 2017. all stands for the symbols of the mirror then, and a pattern for those of the exchange.

With --lock, the exit code is 6, and nothing is exported, if the candles are not exactly those of the lock.

With --resample, candles are aligned as the exchange aligns them: weeks start on Monday, 3d candles at the listing of the symbol, months, quarters and years by the calendar, all others at 1970-01-01.`,
  examples: [
    'klines download BTCUSDT -i 1h -o btcusdt-1h.csv',
    "klines download BTCUSDT ETHUSDT -i 1h --last 90d -o '{symbol}.parquet'",
    'klines download BTCUSDT -i 15m --from yesterday --to today -f csv | head',
    'klines download PEPEUSDT btc/eur -i 15m,1d --base-url binance',
    'klines download all -i all',
    'klines download BTCUSDT -i 1h,1d --layout hive -o lake/',
    "klines download --lock klines.lock.json -o '{symbol}-{interval}.csv'",
  ],
  args: symbolArgs,
  flags: downloadFlags,
  async run(context) {
    const { symbol: symbols } = context.args
    const { runCandles, showRun } = await import('../cli/candles.js')
    const { lock } = context.flags
    const result =
      lock === undefined
        ? await runCandles(context, { symbols })
        : await (await import('../cli/locked-download.js')).runLockedDownload(lock, symbols, context)
    if (result) showRun(context, result)
  },
})
