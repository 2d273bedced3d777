/** What went wrong, as one word a program can branch on. The exit code follows from it (`cli/exit-codes.ts`). */
export type ErrorCode =
  // the request makes no sense
  | 'unknown_symbol'
  | 'unknown_interval'
  | 'bad_time'
  | 'bad_range'
  | 'bad_option'
  | 'bad_base_url'
  | 'bad_output'
  | 'output_exists'
  | 'mirror_mismatch'
  | 'address_unusable'
  | 'rejected'
  // something asked for could not be had
  | 'bad_window'
  | 'bad_list'
  | 'window_missing'
  | 'incomplete'
  | 'mirror_unusable'
  | 'output_unwritable'
  | 'digits_lost'
  | 'no_memory'
  // nothing there
  | 'no_candles'
  // the service
  | 'unreachable'
  | 'rate_limited'

/** Facts beside the message. */
export interface ErrorDetails {
  /** What caused it. */
  cause?: unknown
  /** What to do next, one sentence each. */
  suggestions?: string[]
  /** Values a program may want (JSON only). */
  data?: Record<string, unknown>
}

/** Every error this project throws on purpose: a code, a message for people, and what to do next. */
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

/** Whether `error` is one of ours with that code. */
export function isKlinesError(error: unknown, code?: ErrorCode): error is KlinesError {
  return error instanceof KlinesError && (code === undefined || error.code === code)
}
