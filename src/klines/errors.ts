/** The stable code of an error, for programs to branch on. It determines the exit code (`cli/exit-codes.ts`). */
export type ErrorCode =
  // the request is invalid
  | 'unknown_symbol'
  | 'unknown_interval'
  | 'bad_time'
  | 'bad_range'
  | 'bad_option'
  | 'bad_config'
  | 'bad_base_url'
  | 'bad_output'
  | 'bad_query'
  | 'duckdb_missing'
  | 'output_exists'
  | 'mirror_mismatch'
  | 'linked_path'
  | 'address_unusable'
  | 'rejected'
  // something requested could not be downloaded, read or written
  | 'bad_window'
  | 'bad_list'
  | 'window_missing'
  | 'incomplete'
  | 'mirror_unusable'
  | 'output_unwritable'
  | 'digits_lost'
  | 'no_memory'
  // another run writes the same lake
  | 'lake_busy'
  // the result is empty
  | 'no_candles'
  // the reader of a pipe has seen enough
  | 'output_closed'
  // the service
  | 'unreachable'
  | 'rate_limited'

/** Details of an error beside its message. */
export interface ErrorDetails {
  /** The underlying error. */
  cause?: unknown
  /** What to do next, one sentence each. */
  suggestions?: string[]
  /** Values for programs (JSON only). */
  data?: Record<string, unknown>
}

/** Every error that this project throws on purpose: a code, a message for people, and what to do next. */
export class KlinesError extends Error {
  override readonly name: string = 'KlinesError'
  readonly code: ErrorCode
  readonly suggestions: string[]
  readonly data: Record<string, unknown>

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.suggestions = details.suggestions ?? []
    this.data = details.data ?? {}
  }
}

/** Whether `error` is a KlinesError, and has that code if one is given. */
export function isKlinesError(error: unknown, code?: ErrorCode): error is KlinesError {
  return error instanceof KlinesError && (code === undefined || error.code === code)
}
