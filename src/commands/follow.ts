import * as Flags from '@oclif/core/flags'
import { command, refuse, refuseJson } from '../cli/command.js'
import { inGroup, outputTableFlags, pick } from '../cli/flags/group.js'
import { outputFlag } from '../cli/flags/output.js'
import { fetchFlags, locationFlags, selectionFlags, symbolArgs } from '../cli/flags/shared.js'
import { parseColumns } from '../formats/row-format.js'

/** The longest time that Node's timers take, ms. */
const LONGEST_MS = 2 ** 31 - 1

export default command({
  summary: 'Print the candles of a range, and then each one as it closes.',
  description: `Prints the candles of the range once all of their windows are in the mirror, and then each one as it closes: with --base-url binance 15 seconds after that, of another service when its files have it. Without --from and --last it begins with the next candle. The lines are those of klines export.

It goes on until Ctrl-C, --for or --candles. While the service cannot be reached, it waits, and then goes on where it was. With -o, run again, klines compares the last candles of the file, and goes on behind them.`,
  examples: [
    'klines follow BTCUSDT -i 1m --last 1h -f csv --base-url binance',
    'klines follow BTCUSDT -i 1h --from 2024 -o btcusdt-1h.csv --base-url binance',
    'klines follow BTCUSDT -i 1m --offline --candles 10',
  ],
  args: symbolArgs,
  flags: {
    ...pick(selectionFlags, 'interval', 'from', 'last'),
    ...inGroup('range', {
      for: Flags.string({ summary: 'End after this time, such as 2h.', helpValue: 'LENGTH' }),
      candles: Flags.integer({ summary: 'End after so many candles in all.', helpValue: 'N', min: 1 }),
    }),
    ...inGroup('output', {
      output: outputFlag({
        summary: 'CSV file of one series that grows in place; - for stdout.',
        env: 'KLINES_FOLLOW_OUTPUT',
      }),
      format: Flags.option({
        char: 'f',
        summary: 'Format of the lines. Default: jsonl, and csv with -o.',
        options: ['csv', 'jsonl'] as const,
        helpValue: 'FORMAT',
        env: 'KLINES_FOLLOW_FORMAT',
      })(),
      ...pick(outputTableFlags, 'columns', 'time-format'),
    }),
    ...inGroup('network', {
      offline: Flags.boolean({ summary: 'Make no request: follow what other processes write into the mirror.' }),
    }),
    ...locationFlags,
    ...pick(fetchFlags, 'concurrency', 'retries', 'timeout'),
  },
  async run({ args, flags, options, during }) {
    const { output = '-', json, candles } = flags
    const { format = output === '-' ? 'jsonl' : 'csv' } = flags
    if (json) throw refuseJson('candles', 'Leave --json out: -f jsonl prints an object for each candle.')
    if (output !== '-' && !(format === 'csv' && output.endsWith('.csv')))
      throw refuse(
        `${output} cannot grow as ${format}. Expected a name that ends in .csv.`,
        'For JSON Lines: -f jsonl >> FILE.',
      )
    const limits = flags.for === undefined ? [] : [AbortSignal.timeout(await parseLength(flags.for))]
    const signal = AbortSignal.any([options.signal, ...limits])
    const columns = flags.columns && parseColumns(flags.columns)
    const request = { ...options, symbols: args.symbol, intervals: flags.interval, format, columns, candles, signal }
    const { appendFollowed, writeFollowed } = await import('./runs/follow.js')
    const { StreamOutput } = await import('../engine/output-stream.js')
    const { downloadingFrom } = await import('../cli/terminal/progress-text.js')
    const work = () => {
      if (output !== '-') return appendFollowed(request, output)
      const stdout = StreamOutput.to('-', signal)
      return writeFollowed(request, bytes => stdout.write(bytes))
    }
    try {
      // The progress is that of the history.
      await (flags.offline ? work() : during(downloadingFrom(flags['base-url']), work, { endsEarly: true }))
    } catch (error) {
      // The time of --for is over.
      if (!signal.aborted || options.signal.aborted) throw error
    }
  },
})

/** The length of a time in ms. Throws `bad_time`, and `bad_option` for one that is too long. */
async function parseLength(text: string): Promise<number> {
  const { timeBefore } = await import('../candles/time-range.js')
  const now = Date.now()
  const ms = now - timeBefore(now, text)
  if (ms > LONGEST_MS) throw refuse(`--for ${text} is too long. Expected 24d at most, or no --for.`)
  return ms
}
