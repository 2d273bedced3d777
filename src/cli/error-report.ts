import * as Errors from '@oclif/core/errors'
import { KlinesError } from '../klines/errors.js'
import { EXIT_CODES, ExitCode } from './exit-codes.js'
import { Interruption } from './signals.js'

/** What a failed run says: for people, for programs, for the shell. */
export interface ErrorReport {
  readonly exitCode: number
  /** Lines for stderr. */
  readonly text: string
  /** The object that `--json` prints. */
  readonly json: { readonly error: Record<string, unknown> }
}

/** Everything that is said about an error. The stack is only for `verbose`. */
export function reportError(error: unknown, { bin, verbose }: { bin: string; verbose: boolean }): ErrorReport {
  const { code, exitCode, message, suggestions, data } = describe(error)
  const stack = verbose && error instanceof Error ? formatStack(error) : []
  const lines = [`${bin}: ${message}`, ...suggestions.map(text => `  ${text}`), ...stack]
  const json = { error: { code, message, exitCode, suggestions, ...(Object.keys(data).length > 0 && { data }) } }
  return { exitCode, text: lines.join('\n'), json }
}

function describe(error: unknown): {
  code: string
  exitCode: number
  message: string
  suggestions: string[]
  data: object
} {
  if (error instanceof KlinesError) return { ...pick(error), exitCode: EXIT_CODES[error.code] }
  if (error instanceof Interruption) {
    return { code: 'interrupted', exitCode: error.exitCode, message: error.message, suggestions: [], data: {} }
  }
  if (error instanceof Errors.CLIError) {
    // The parser's messages end with advice of their own; its exit code is 2, 0 when it only wanted to stop.
    const exitCode = error.oclif.exit ?? ExitCode.Usage
    return { code: 'usage', exitCode, message: parserMessage(error.message), suggestions: [], data: {} }
  }
  const message = error instanceof Error ? error.message : String(error)
  const suggestions = ['This was not expected; -v shows where it happened.']
  return { code: 'unexpected', exitCode: ExitCode.Unexpected, message, suggestions, data: {} }
}

function pick({ code, message, suggestions, data }: KlinesError) {
  return { code, message, suggestions, data }
}

/** Stacks of an error and of what caused it. */
function formatStack(error: Error): string[] {
  const cause =
    error.cause instanceof Error
      ? formatStack(error.cause).map((line, index) => (index === 0 ? `Caused by ${line}` : line))
      : []
  return [error.stack ?? String(error), ...cause]
}

/**
 * A parser's message without colours, in one paragraph, and without a note of its own on greedy flags, which ours are not.
 */
function parserMessage(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
  const plain = text.replace(/\u001B\[[0-9;]*m/g, '')
  return plain
    .replace(/\n\nNote: --[\s\S]*?beginning of arguments\./, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/Missing required flag (\w+)/, 'Missing required flag --$1')
    .replace(/\s*\n\t/g, ': ')
}
