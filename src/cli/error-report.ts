import * as Errors from '@oclif/core/errors'
import { type ErrorCode, KlinesError } from '../candles/errors.js'
import { Interruption } from './signals.js'
import { describeUsageError, type FailedCommand, parsedBefore } from './usage.js'

/** Exit codes for scripts. An interrupted run ends with 130, 143 or 129, which follow from the signal. */
export enum ExitCode {
  Done = 0,
  Unexpected = 1,
  Usage = 2,
  Incomplete = 3,
  NoCandles = 4,
  Unreachable = 5,
  VerificationFailed = 6,
}

/** The exit code of each error. */
export const EXIT_CODES: Record<ErrorCode, ExitCode> = {
  unknown_symbol: ExitCode.Usage,
  unknown_interval: ExitCode.Usage,
  bad_time: ExitCode.Usage,
  bad_range: ExitCode.Usage,
  bad_option: ExitCode.Usage,
  bad_config: ExitCode.Usage,
  bad_base_url: ExitCode.Usage,
  bad_output: ExitCode.Usage,
  bad_input: ExitCode.Usage,
  output_exists: ExitCode.Usage,
  mirror_mismatch: ExitCode.Usage,
  linked_path: ExitCode.Usage,
  address_unusable: ExitCode.Usage,
  rejected: ExitCode.Usage,
  bad_window: ExitCode.Incomplete,
  bad_list: ExitCode.Incomplete,
  window_missing: ExitCode.Incomplete,
  incomplete: ExitCode.Incomplete,
  mirror_unusable: ExitCode.Incomplete,
  output_unwritable: ExitCode.Unexpected,
  digits_lost: ExitCode.Unexpected,
  damaged_input: ExitCode.VerificationFailed,
  lock_differs: ExitCode.VerificationFailed,
  no_candles: ExitCode.NoCandles,
  output_closed: ExitCode.Done,
  lake_busy: ExitCode.Unreachable,
  unreachable: ExitCode.Unreachable,
  rate_limited: ExitCode.Unreachable,
}

/** Errors about values, which may be defaults of the user. */
const VALUES: readonly string[] = [
  ...['unknown_symbol', 'unknown_interval', 'bad_time', 'bad_range'],
  ...['bad_option', 'bad_base_url', 'bad_output', 'mirror_mismatch'],
]

/** Where an error was thrown. */
interface ErrorContext {
  readonly bin: string
  readonly command?: FailedCommand
  /** Whether the text has the stacks of the error and of its causes. */
  readonly debug: boolean
  /** Values that the command line does not have; a line each. */
  readonly origins?: readonly string[]
}

/** Any thrown value: its exit code, lines for stderr, and the object that `--json` prints. */
export function reportError(error: unknown, { bin, command = { id: '' }, debug, origins = [] }: ErrorContext) {
  const { data = {}, ...described } = describe(error, bin, command)
  const { code, exitCode, message } = described
  const isAboutValues = VALUES.includes(code) || (error instanceof Errors.CLIError && !parsedBefore(error))
  const suggestions = [...described.suggestions, ...(isAboutValues ? origins : [])]
  const stack = debug && error instanceof Error ? formatStack(error) : []
  const text = [`${bin}: ${message}`, ...suggestions.map(line => `  ${line}`), ...stack].join('\n')
  const json = { error: { code, message, exitCode, suggestions, ...(Object.keys(data).length > 0 && { data }) } }
  return { exitCode, text, json }
}

function describe(error: unknown, bin: string, command: FailedCommand) {
  if (error instanceof KlinesError) {
    const { code, message, suggestions, data } = error
    return { code, exitCode: EXIT_CODES[code], message, suggestions, data }
  }
  if (error instanceof Interruption)
    return { code: 'interrupted', exitCode: error.exitCode, message: error.message, suggestions: [] }
  if (error instanceof Errors.CLIError)
    return { code: 'usage', exitCode: error.oclif.exit ?? ExitCode.Usage, ...describeUsageError(error, bin, command) }
  const message = error instanceof Error ? error.message : String(error)
  const suggestions = ['This was not expected. Set KLINES_DEBUG=1 to see where it happened.']
  return { code: 'unexpected', exitCode: ExitCode.Unexpected, message, suggestions }
}

/** The stacks of an error and of its causes. */
function formatStack(error: Error): string[] {
  const [first, ...rest] = error.cause instanceof Error ? formatStack(error.cause) : []
  return [error.stack ?? String(error), ...(first ? [`Caused by ${first}`, ...rest] : [])]
}
