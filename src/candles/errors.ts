/** The stable code of an error, for programs to branch on. It determines the exit code (`cli/error-report.ts`). */
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
  | 'bad_input'
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
  // what was read is not as it was written
  | 'damaged_input'
  // the candles are not those of a lock
  | 'lock_differs'
  // another run writes the same lake
  | 'lake_busy'
  // the result is empty
  | 'no_candles'
  // the reader of a pipe has seen enough
  | 'output_closed'
  // the service
  | 'unreachable'
  | 'rate_limited'

/** What a body is not: JSON at all, or JSON of the expected shape. */
export type BodyFault = 'not_json' | 'shape'

/** The values of an error, for programs. Which of them it has depends on its code, and on what failed. Times are ms UTC. */
export interface ErrorData {
  readonly symbol?: string
  readonly interval?: string
  /** Symbols that a source does not have, of which `symbol` is the first. */
  readonly symbols?: readonly string[]
  /** The intervals of a resampling that cannot be. */
  readonly source?: string
  readonly target?: string
  /** A text that is no point in time. */
  readonly time?: string
  readonly kind?: BodyFault
  /** The row and the element of a window, counted from 0; of a file, the row counted from 1 without a header, and the column. */
  readonly row?: number | undefined
  readonly element?: number
  readonly cell?: string | undefined
  readonly what?: string
  /** The service or the mirror, and a path in it. */
  readonly baseUrl?: string
  readonly mirror?: string
  readonly mirrorBaseUrl?: string
  readonly path?: string
  readonly link?: string
  readonly host?: string
  readonly port?: number
  /** A file that was read, the outputs that were written, and those of them that are new already: paths as they were given. */
  readonly file?: string
  readonly output?: string
  readonly outputs?: readonly string[]
  readonly placed?: readonly string[]
  /** The code of a system error, such as `ENOSPC`. */
  readonly errno?: string
  /** Every window that could not be downloaded or read, and why. */
  readonly failures?: readonly (SeriesNames & { readonly startDate: string; readonly reason: string })[]
  /** What a list lacks, or the files that a lake lacks. */
  readonly missing?: readonly string[]
  /** Series that lack candles, between others and at the ends of the range, or that differ from a lock in some years. */
  readonly series?: readonly (SeriesNames & {
    readonly missing?: number
    readonly shortAtStart?: number
    readonly shortAtEnd?: number
    readonly years?: readonly number[]
  })[]
  /** Tokens that came before a stream broke off. */
  readonly tokens?: number
  /** The file of a lock. */
  readonly lock?: string
  /** Every cell that a run saw change. */
  readonly restated?: readonly (SeriesNames & {
    readonly openTime: number
    readonly column: string
    readonly before: string | null
    readonly after: string | null
  })[]
  /** The status of an answer, what it says, how often it was asked for, and until when no request is allowed (ISO 8601). */
  readonly status?: number
  readonly cause?: readonly string[]
  readonly reason?: string
  readonly tries?: number
  readonly until?: string
  /** What the greeting service sent instead of an update. */
  readonly answer?: unknown
}

interface SeriesNames {
  readonly symbol: string
  readonly interval: string
}

/** Details of an error beside its message. */
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
  /** Values for programs. */
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
