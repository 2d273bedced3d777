import { command } from '../cli/command.js'
import { exportFlags } from '../cli/flags/candles.js'
import { symbolArgs } from '../cli/flags/selection.js'

export default command({
  summary: 'Export candles from the local mirror; works offline.',
  description: `If the mirror lacks a window of the range, nothing is written, the missing windows are listed, and the exit code is 3.

Without --from, the range begins with the first window in the mirror, and without --to it ends with the newest candle there. all stands for every symbol or interval in the mirror.`,
  examples: [
    "klines export BTCUSDT -i 1h -o '{symbol}-{interval}.parquet'",
    'klines export BTCUSDT -i 1h --resample 3h -o btcusdt-3h.csv',
    'klines export BTCUSDT -i 1d --columns open_time,close -f csv',
    'klines export all -i 1d -f csv | gzip > all.csv.gz',
    'klines export all -i all --layout hive -o lake/',
  ],
  args: symbolArgs,
  flags: exportFlags,
  advice: 'No file is half written; run the same command again.',
  async run(context) {
    const { runCandles, showRun } = await import('../cli/candles.js')
    const result = await runCandles(context, { symbols: context.args.symbol, offline: true })
    if (result) showRun(context, result)
  },
})
