import { command } from '../cli/command.js'
import { pick } from '../cli/flags/group.js'
import { runFlags } from '../cli/flags/run.js'
import { fetchFlags, locationFlags } from '../cli/flags/service.js'
import { downloadingFrom } from '../cli/terminal/progress-text.js'

export default command({
  summary: 'Make the mirror current: one command for cron.',
  description: `Downloads what every series of the mirror lacks or can still change, from its first cached window to now.

Files and lakes are made current by the klines export or klines download that made them.`,
  examples: ['klines update', 'klines update --base-url binance --json', 'klines update --dry-run'],
  flags: {
    ...locationFlags,
    ...fetchFlags,
    ...pick(runFlags, 'fail-on-gaps', 'dry-run', 'per-series'),
  },
  async run({ flags, options, during, show }) {
    const startedMs = performance.now()
    const { updateKlines } = await import('../engine/download.js')
    const { dryRunUpdate } = await import('../engine/dry-run.js')
    const { openMirror } = await import('../engine/run.js')
    const { KlinesError } = await import('../candles/errors.js')
    const { DryRun, Run } = await import('../cli/reports/run.js')
    const mirror = openMirror(options)
    const baseUrl = options.baseUrl ?? mirror.source
    if (baseUrl === undefined && mirror.exists) {
      throw new KlinesError('bad_option', `${mirror.root} does not say where its candles come from.`, {
        suggestions: ['Name the address with --base-url.'],
      })
    }
    const request = { ...options, baseUrl }
    const words = downloadingFrom(baseUrl)
    if (flags['dry-run']) return show(DryRun, await during(words, events => dryRunUpdate({ ...request, ...events })))
    const result = await during(words, events => updateKlines({ ...request, ...events }))
    show(Run, { ...result, elapsedMs: performance.now() - startedMs })
  },
})
