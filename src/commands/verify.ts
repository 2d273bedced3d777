import * as Flags from '@oclif/core/flags'
import { command } from '../cli/command.js'
import { ExitCode, VERDICT_EXIT_CODES } from '../cli/error-report.js'
import { inGroup, pick } from '../cli/flags/group.js'
import { tableFlags } from '../cli/flags/output.js'
import { locationFlags, lockFlag, rangeFlags, runFlags, selectionFlags, symbolArgs } from '../cli/flags/shared.js'
import { refuseBesideLock } from '../cli/resolve-flags.js'
import { READING } from '../cli/terminal/progress-text.js'

const CHECKING = { start: 'Reading lists', verb: 'Checking', noun: 'window' }

export const verify = command({
  summary: 'Check the candles of the mirror, to the last digit.',
  description: `Each candle is checked by itself (order, grid, prices, volumes), and each one that finer intervals of the mirror cover is compared with the exact sum of its finer candles, in all columns. Of the candles that fail, the first 20 of each series are named; with -v and --json all of them, of invalid ones the first 10,000 of each series.
Windows that have started and are not in the mirror are missing. Without a range, each series is checked from its first to its last cached window.
With --lock, only the fingerprints of a lock are compared, and the exit code is 6 if one differs.
Exit codes: 0 no problems found, 3 windows are missing, 4 there are no candles, 6 a candle fails or a window is corrupt.`,
  examples: [
    'klines verify all -i all',
    'klines verify BTCUSDT -i 1h,4h,1d --from 2024 --to 2025 -v',
    'klines verify --lock klines.lock.json',
  ],
  args: symbolArgs,
  flags: {
    ...pick(selectionFlags, 'interval'),
    ...tableFlags,
    ...lockFlag,
    ...rangeFlags,
    ...inGroup('what', {
      'fail-on-gaps': Flags.boolean({
        summary: 'Exit code 6 when candles are missing in the range or at an end of it that is named.',
      }),
    }),
    ...locationFlags,
    ...pick(runFlags, 'threads'),
  },
  async run({ args, flags, options, given, during, print }) {
    const { lock } = flags
    if (lock !== undefined) {
      refuseBesideLock(args.symbol, ['format', 'fail-on-gaps', 'threads'], given)
      const { checkLock } = await import('../identity/check-lock.js')
      const { LockVerdict } = await import('./reports/lock.js')
      const check = await during(READING, () => checkLock({ ...options, lock, offline: true }))
      print(LockVerdict, check)
      process.exitCode = VERDICT_EXIT_CODES[check.verdict]
      return
    }
    const { verifyKlines } = await import('../verify/verify.js')
    const { Verify } = await import('./reports/verify.js')
    const request = { ...options, symbols: args.symbol, intervals: flags.interval, sums: flags.verbose }
    const result = await during(CHECKING, () => verifyKlines(request))
    print(Verify, result)
    const isFailure = result.failOnGaps && result.verdict === 'incomplete'
    process.exitCode = isFailure ? ExitCode.VerificationFailed : VERDICT_EXIT_CODES[result.verdict]
  },
})

export const stats = command({
  summary: 'Show statistics of series: range, prices, totals, largest gap.',
  examples: ['klines stats BTCUSDT -i all', 'klines stats all -i 1d --last 1y -f csv'],
  args: symbolArgs,
  flags: { ...pick(selectionFlags, 'interval'), ...tableFlags, ...rangeFlags, ...locationFlags },
  async run({ args, flags, options, print }) {
    const { statsKlines } = await import('../verify/stats.js')
    const { Stats } = await import('./reports/lists.js')
    print(Stats, await statsKlines({ ...options, symbols: args.symbol, intervals: flags.interval }))
  },
})
