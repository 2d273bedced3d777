import * as Errors from '@oclif/core/errors'
import { KlinesError } from '../klines/errors.js'
import { EXIT_CODES, ExitCode } from './exit-codes.js'
import { toFlags } from './option-flags.js'
import { Interruption } from './signals.js'

/** A failed run for people, for programs and for the shell. */
export interface ErrorReport {
  readonly exitCode: number
  /** Lines for stderr. */
  readonly text: string
  /** The object that `--json` prints. */
  readonly json: { readonly error: Record<string, unknown> }
}

/** Describes any thrown value; `verbose` adds the stacks of the error and of its causes. */
export function reportError(error: unknown, { bin, verbose }: { bin: string; verbose: boolean }): ErrorReport {
  const { code, exitCode, message, suggestions, data } = describe(error)
  const stack = verbose && error instanceof Error ? formatStack(error) : []
  const lines = [`${bin}: ${message}`, ...suggestions.map(text => `  ${text}`), ...stack]
  const json = { error: { code, message, exitCode, suggestions, ...(Object.keys(data).length > 0 && { data }) } }
  return { exitCode, text: lines.join('\n'), json }
}

function describe(error: unknown) {
  if (error instanceof KlinesError) {
    const { code, message, suggestions, data } = error
    return { code, exitCode: EXIT_CODES[code], message: toFlags(message), suggestions: suggestions.map(toFlags), data }
  }
  if (error instanceof Interruption) {
    return { code: 'interrupted', exitCode: error.exitCode, message: error.message, suggestions: [], data: {} }
  }
  if (error instanceof Errors.CLIError) {
    const exitCode = error.oclif.exit ?? ExitCode.Usage
    return { code: 'usage', exitCode, message: parserMessage(error.message), suggestions: [], data: {} }
  }
  const message = error instanceof Error ? error.message : String(error)
  const suggestions = ['This was not expected; -v shows where it happened.']
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

/** A message of oclif's parser in one paragraph, without colours and without its note on greedy flags, which ours are not. */
function parserMessage(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
  const plain = text.replace(/\u001B\[[0-9;]*m/g, '')
  return plain
    .replace(/\n\nNote: --[\s\S]*?beginning of arguments\./, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/Missing required flag (\w+)/, 'Missing required flag --$1')
    .replace(/\s*\n\t/g, ': ')
}
