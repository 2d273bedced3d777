import * as Flags from '@oclif/core/flags'
import { KlinesError } from '../candles/errors.js'
import { command } from '../cli/command.js'
import { inGroup } from '../cli/flags/group.js'
import { outputFlag } from '../cli/flags/output.js'
import { selectionFlags, symbolArgs } from '../cli/flags/selection.js'
import { locationFlags } from '../cli/flags/service.js'
import { READING } from '../cli/terminal/progress-text.js'
import { SAMPLE } from '../sources/base-url.js'

export default command({
  summary: 'Write a lock file: which candles of the mirror a result rests on.',
  description: `A lock has the fingerprint of each series, so that klines download --lock gets exactly these candles on another machine, or says which years differ. It belongs in the repository of what is made of the candles: the same candles have the same bytes.

Only candles that can no longer change are locked: each series ends with its last one whose window was rendered, or sent by the exchange, a day or more after the candle's end. Works offline. If the mirror lacks a window of the range, the exit code is 3.`,
  examples: [
    'klines lock BTCUSDT ETHUSDT -i 1h,1d --from 2022',
    'klines lock all -i all -o data.lock.json --force',
    'klines download --lock klines.lock.json',
    'klines verify --lock klines.lock.json',
  ],
  args: symbolArgs,
  flags: {
    ...selectionFlags,
    ...inGroup('output', {
      output: outputFlag({
        summary: 'File to write; - for stdout. Default: klines.lock.json.',
        // KLINES_OUTPUT is the file of candles.
        env: 'KLINES_LOCK_OUTPUT',
      }),
      force: Flags.boolean({ summary: 'Replace an existing file, and say what changed.' }),
    }),
    ...locationFlags,
  },
  advice: 'No lock was written.',
  async run({ args, flags: { interval, output, json }, options, warn, during, show }) {
    if (output === '-' && json) {
      const message = '--json prints an object on stdout, where the lock goes. Expected one of them.'
      throw new KlinesError('bad_option', message)
    }
    const { lockKlines } = await import('../identity/lock.js')
    const { LockSummary } = await import('../cli/reports/lock.js')
    const { SYNTHETIC } = await import('../cli/reports/fields.js')
    const request = { ...options, symbols: args.symbol, intervals: interval }
    const lock = await during(READING, events => lockKlines({ ...request, ...events }))
    if (lock.source === SAMPLE) warn(SYNTHETIC)
    if (output !== '-') show(LockSummary, lock)
  },
})
