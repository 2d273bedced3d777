/** The codes of errors, each with the exit code of the command line. */
export const EXIT_CODES = {
  // the reader of a pipe has seen enough
  output_closed: 0,
  output_unwritable: 1,
  digits_lost: 1,
  // the request is invalid
  unknown_symbol: 2,
  unknown_interval: 2,
  bad_time: 2,
  bad_range: 2,
  bad_option: 2,
  bad_config: 2,
  bad_base_url: 2,
  bad_output: 2,
  bad_input: 2,
  output_exists: 2,
  mirror_mismatch: 2,
  linked_path: 2,
  address_unusable: 2,
  rejected: 2,
  // something requested could not be downloaded or read
  bad_window: 3,
  bad_list: 3,
  window_missing: 3,
  incomplete: 3,
  mirror_unusable: 3,
  no_candles: 4,
  // come back later: another run writes the same lake; the service
  lake_busy: 5,
  unreachable: 5,
  rate_limited: 5,
  // what was read is not as it was written; the candles are not those of a lock
  damaged_input: 6,
  lock_differs: 6,
} as const

/** The stable code of an error, for programs to branch on. */
export type ErrorCode = keyof typeof EXIT_CODES

/** What a body is not: JSON at all, or JSON of the expected shape. */
export type BodyFault = 'not_json' | 'shape'

/** The values of an error, for programs. Which of them it has depends on its code, and on what failed. Times are ms UTC. */
export interface ErrorData {
  readonly [name: string]: unknown
  readonly symbol?: string
  readonly kind?: BodyFault
  /** Every window that could not be downloaded or read, and why. */
  readonly failures?: readonly Record<'symbol' | 'interval' | 'startDate' | 'reason', string>[]
  /** The status of an answer, and until when no request is allowed (ISO 8601). */
  readonly status?: number
  readonly until?: string
}

interface ErrorDetails {
  readonly cause?: unknown
  /** What to do next, one sentence each. */
  readonly suggestions?: string[]
  readonly data?: ErrorData
}

/** Every error that this project throws on purpose: a code, a message for people, and what to do next. */
export class KlinesError extends Error {
  override readonly name: string = 'KlinesError'
  readonly suggestions: string[]
  readonly data: ErrorData

  constructor(
    readonly code: ErrorCode,
    message: string,
    { cause, suggestions = [], data = {} }: ErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.suggestions = suggestions
    this.data = data
  }
}

/** Whether `error` is a KlinesError, and has that code if one is given. */
export function isKlinesError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is KlinesError & { readonly code: Code } {
  return error instanceof KlinesError && (code === undefined || error.code === code)
}
