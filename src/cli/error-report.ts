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

/** Errors that have the same exit code. */
function exit<Code extends ErrorCode>(exitCode: ExitCode, ...codes: Code[]): Record<Code, ExitCode> {
  return Object.fromEntries(codes.map(code => [code, exitCode])) as Record<Code, ExitCode>
}

/** The exit code of each error. */
export const EXIT_CODES: Record<ErrorCode, ExitCode> = {
  ...exit(ExitCode.Done, 'output_closed'),
  ...exit(ExitCode.Unexpected, 'output_unwritable', 'digits_lost'),
  ...exit(ExitCode.Usage, 'unknown_symbol', 'unknown_interval', 'bad_time', 'bad_range', 'bad_option', 'bad_config'),
  ...exit(ExitCode.Usage, 'bad_base_url', 'bad_output', 'bad_input', 'output_exists', 'linked_path', 'rejected'),
  ...exit(ExitCode.Usage, 'mirror_mismatch', 'address_unusable'),
  ...exit(ExitCode.Incomplete, 'bad_window', 'bad_list', 'window_missing', 'incomplete', 'mirror_unusable'),
  ...exit(ExitCode.NoCandles, 'no_candles'),
  ...exit(ExitCode.Unreachable, 'lake_busy', 'unreachable', 'rate_limited'),
  ...exit(ExitCode.VerificationFailed, 'damaged_input', 'lock_differs'),
}

/** Errors about values, which may be defaults of the user. */
const VALUES = [
  'unknown_symbol',
  'unknown_interval',
  'bad_time',
  'bad_range',
  'bad_option',
  'bad_base_url',
  'bad_output',
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
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Interruption) return { code: 'interrupted', exitCode: error.exitCode, message, suggestions: [] }
  if (error instanceof Errors.CLIError)
    return { code: 'usage', exitCode: error.oclif.exit ?? ExitCode.Usage, ...describeUsageError(error, bin, command) }
  const suggestions = ['This was not expected. Set KLINES_DEBUG=1 to see where it happened.']
  return { code: 'unexpected', exitCode: ExitCode.Unexpected, message, suggestions }
}

/** The stacks of an error and of its causes. */
function formatStack(error: Error): string[] {
  const [first, ...rest] = error.cause instanceof Error ? formatStack(error.cause) : []
  return [error.stack ?? String(error), ...(first ? [`Caused by ${first}`, ...rest] : [])]
}
