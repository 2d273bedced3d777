import { command, refuse } from '../cli/command.js'
import { pick } from '../cli/flags/group.js'
import { downloadFlags, exportFlags } from '../cli/flags/output.js'
import { fetchFlags, locationFlags, runFlags, symbolArgs } from '../cli/flags/shared.js'

export const download = command({
  summary: 'Download candles to the local mirror; export them with -o or -f.',
  description: `Downloads the windows of the range that are missing from the mirror or can still change. Final windows are never downloaded again.

If a window cannot be downloaded, the others still are, nothing is exported, and the exit code is 3.

With --base-url binance, candles come from the exchange itself: any symbol, since 2017. all stands for the symbols of the mirror then, and a pattern for those of the exchange.

With --lock, the exit code is 6, and nothing is exported, if the candles are not exactly those of the lock.`,
  examples: [
    'klines download BTCUSDT -i 1h -o btcusdt-1h.csv',
    "klines download BTCUSDT ETHUSDT -i 1h --last 90d -o '{symbol}.parquet'",
    'klines download PEPEUSDT btc/eur -i 15m,1d --base-url binance',
    'klines download BTCUSDT -i 1h,1d --layout hive -o lake/',
  ],
  args: symbolArgs,
  flags: downloadFlags,
  async run(context) {
    const { symbol: symbols } = context.args
    const { lock } = context.flags
    const { runCandles, runLockedDownload } = await import('./runs/candles.js')
    await (lock ? runLockedDownload(lock, symbols, context) : runCandles(context, { symbols }))
  },
})

export const exportCommand = command({
  summary: 'Export candles from the local mirror; works offline.',
  description: `If the mirror lacks a window of the range, nothing is written, the missing windows are listed, and the exit code is 3.

Without --from, the range begins with the first window in the mirror, and without --to it ends with the newest candle there. all stands for every symbol or interval in the mirror.`,
  examples: [
    "klines export BTCUSDT -i 1h -o '{symbol}-{interval}.parquet'",
    'klines export BTCUSDT -i 1h --resample 3h -o btcusdt-3h.csv',
    'klines export all -i 1d -f csv | gzip > all.csv.gz',
  ],
  args: symbolArgs,
  flags: { ...exportFlags, ...pick(runFlags, 'per-series') },
  async run(context) {
    const { runCandles } = await import('./runs/candles.js')
    await runCandles(context, { symbols: context.args.symbol, offline: true })
  },
})

export const update = command({
  summary: 'Make the mirror current: one command for cron.',
  description: `Downloads what every series of the mirror lacks or can still change, from its first cached window to now.

Files and lakes are made current by the klines export or klines download that made them.`,
  examples: ['klines update', 'klines update --base-url binance -q --max-age 2d', 'klines update --dry-run'],
  flags: { ...locationFlags, ...fetchFlags, ...pick(runFlags, 'fail-on-gaps', 'dry-run', 'per-series', 'max-age') },
  async run({ flags, options, during, show }) {
    const startedMs = performance.now()
    const { dryRunUpdate, updateKlines } = await import('../engine/klines.js')
    const { openMirror } = await import('../mirror/user-mirrors.js')
    const { DryRun, Run } = await import('./reports/run.js')
    const { downloadingFrom } = await import('../cli/terminal/progress-text.js')
    const { source, exists, root } = openMirror(options)
    const { baseUrl = source } = options
    if (baseUrl === undefined && exists)
      throw refuse(`${root} does not say where its candles come from.`, 'Name the address with --base-url.')
    const request = { ...options, baseUrl }
    const words = downloadingFrom(baseUrl)
    if (flags['dry-run']) return show(DryRun, await during(words, () => dryRunUpdate(request)))
    const result = await during(words, () => updateKlines(request))
    show(Run, { ...result, files: [], elapsedMs: performance.now() - startedMs })
  },
})
