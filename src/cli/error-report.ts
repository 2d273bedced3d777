import * as Errors from '@oclif/core/errors'
import { type ErrorCode, KlinesError } from '../candles/errors.js'
import type { ConfigDefaults } from './config/defaults.js'
import { Interruption } from './signals.js'
import { isOn } from './switch-variable.js'
import { describeUsageError, type FailedCommand } from './usage.js'

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

/** Where an error was thrown. */
interface ErrorContext {
  readonly bin: string
  readonly command?: FailedCommand | undefined
  /** Whether the text has the stacks of the error and of its causes. */
  readonly debug: boolean
  /** Where values that the message names come from; a line each. */
  readonly origins?: readonly string[] | undefined
}

/** Whether `KLINES_DEBUG` asks for the stacks of errors. */
export function isDebug(): boolean {
  return isOn('KLINES_DEBUG')
}

/** Whether `--json` is on a command line, or in the environment or the config file: an error may come before the flags are parsed. */
export function wantsJson(argv: readonly string[], defaults: ConfigDefaults): boolean {
  const end = argv.indexOf('--')
  const flags = end === -1 ? argv : argv.slice(0, end)
  const { KLINES_JSON } = process.env
  const isDefault = KLINES_JSON ? isOn('KLINES_JSON') : defaults.get('json') === true
  return flags.includes('--json') || (isDefault && !flags.includes('--no-json'))
}

/** Any thrown value: its exit code, lines for stderr, and the object that `--json` prints. */
export function reportError(error: unknown, { bin, command, debug, origins = [] }: ErrorContext) {
  const { code, exitCode, message, data, ...described } = describe(error, bin, command)
  const suggestions = [...described.suggestions, ...origins]
  const stack = debug && error instanceof Error ? formatStack(error) : []
  const lines = [`${bin}: ${message}`, ...suggestions.map(text => `  ${text}`), ...stack]
  const json = { error: { code, message, exitCode, suggestions, ...(Object.keys(data).length > 0 && { data }) } }
  return { exitCode, text: lines.join('\n'), json }
}

function describe(error: unknown, bin: string, command: FailedCommand | undefined) {
  if (error instanceof KlinesError) {
    const { code, message, suggestions, data } = error
    return { code, exitCode: EXIT_CODES[code], message, suggestions, data }
  }
  if (error instanceof Interruption) {
    return { code: 'interrupted', exitCode: error.exitCode, message: error.message, suggestions: [], data: {} }
  }
  if (error instanceof Errors.CLIError) {
    const exitCode = error.oclif.exit ?? ExitCode.Usage
    return { code: 'usage', exitCode, ...describeUsageError(error, bin, command), data: {} }
  }
  const message = error instanceof Error ? error.message : String(error)
  const suggestions = ['This was not expected. Set KLINES_DEBUG=1 to see where it happened.']
  return { code: 'unexpected', exitCode: ExitCode.Unexpected, message, suggestions, data: {} }
}

/** The stacks of an error and of its causes. */
function formatStack(error: Error): string[] {
  const cause =
    error.cause instanceof Error
      ? formatStack(error.cause).map((line, index) => (index === 0 ? `Caused by ${line}` : line))
      : []
  return [error.stack ?? String(error), ...cause]
}
