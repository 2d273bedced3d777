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

/**
 * The values for programs of each code. Which of them an error has depends on what failed. A code that is not here has
 * other values, or none.
 */
export interface ErrorData {
  /** `symbol` is the name, or the first of the names in `symbols`. */
  unknown_symbol: { readonly symbol?: string; readonly symbols?: readonly string[] }
  /** `source` and `target`: the intervals of a resampling that cannot be. `symbol`: whose 3d grid is not known. */
  bad_option: {
    readonly source?: string
    readonly target?: string
    readonly symbol?: string
  }
  /** `row` and `element` count from 0; `what` says what is wrong with them. */
  bad_window: { readonly kind?: BodyFault; readonly row?: number; readonly element?: number; readonly what?: string }
  /** `baseUrl`: the service whose list it is; `mirror` and `path`: the folder, and the file in it. */
  bad_list: { readonly kind?: BodyFault; readonly baseUrl?: string; readonly mirror?: string; readonly path?: string }
  /**
   * `failures`: every window that could not be downloaded or read, and why. `missing`: what the list of `baseUrl`
   * lacks, or the files that a lake lacks. `series`: those that lack candles of the range, and how many: between two
   * others, and at its ends. `tokens`: how many tokens came before a stream broke off.
   */
  incomplete: {
    readonly failures?: readonly WindowFault[]
    readonly missing?: readonly string[]
    readonly baseUrl?: string
    readonly series?: readonly {
      readonly symbol: string
      readonly interval: string
      readonly missing: number
      readonly shortAtStart: number
      readonly shortAtEnd: number
    }[]
    readonly tokens?: number
  }
  /** `lock`: the file of the run that writes the lake. */
  lake_busy: { readonly lock?: string }
  /** `link`: its path. */
  linked_path: { readonly link?: string }
  /** `errno`: the code of the system, such as `ENOSPC`. `path`: the file, relative to the folder `mirror`. */
  mirror_unusable: { readonly mirror?: string; readonly errno?: string; readonly path?: string }
  /** `lock`: the file. `series`: those that differ, and their years. `restated`: every cell that the run saw change. */
  lock_differs: {
    readonly lock?: string
    readonly series?: readonly (SeriesNames & { readonly years: readonly number[] })[]
    readonly restated?: readonly (SeriesNames & {
      readonly openTime: number
      readonly column: string
      readonly before: string | null
      readonly after: string | null
    })[]
  }
  bad_input: InputData
  damaged_input: InputData
  bad_output: OutputData
  output_exists: OutputData
  output_unwritable: OutputData
  output_closed: OutputData
  /** `until`: when requests are allowed again, in UTC, such as `2025-02-12T12:05:00Z`. `cause`: what the service said. */
  rate_limited: { readonly status?: number; readonly until?: string; readonly cause?: readonly string[] }
  /** `status`: of HTTP; `tries`: how many there were; `reason`: of the last. `cause`: what the service said. */
  unreachable: {
    readonly baseUrl?: string
    readonly status?: number
    readonly tries?: number
    readonly reason?: string
    readonly cause?: readonly string[]
  }
  /** `cause`: what the service said about each field; `answer`: what it sent instead of an update. */
  rejected: { readonly status?: number; readonly cause?: readonly string[]; readonly answer?: unknown }
}

// Types without a name of their own: those have an index, so that an error of one code is an error of any.
type SeriesNames = { readonly symbol: string; readonly interval: string }
type WindowFault = SeriesNames & { readonly startDate: string; readonly reason: string }
/** `file`: the path as it was given. `row` counts from 1, without a header; `cell` is the name of a column. */
type InputData = { readonly file?: string; readonly row?: number; readonly cell?: string }
/**
 * `output`: the path as it was given; `outputs`: two that some disks take for one file. `errno`: the code of the
 * system, such as `ENOSPC`. `placed`: files of the same export that are new already.
 */
type OutputData = {
  readonly output?: string
  readonly outputs?: readonly string[]
  readonly errno?: string
  readonly placed?: readonly string[]
}

/** The values of an error with that code. */
type DataOf<Code extends ErrorCode> = [Code] extends [keyof ErrorData] ? ErrorData[Code] : Record<string, unknown>

/** Details of an error beside its message. */
export interface ErrorDetails<Code extends ErrorCode = ErrorCode> {
  /** The underlying error. */
  cause?: unknown
  /** What to do next, one sentence each. */
  suggestions?: string[]
  /** Values for programs (JSON only). */
  data?: DataOf<Code>
}

/** Every error that this project throws on purpose: a code, a message for people, and what to do next. */
export class KlinesError<Code extends ErrorCode = ErrorCode> extends Error {
  // A class with a type parameter would make `instanceof` say `KlinesError<any>`.
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is KlinesError
  override readonly name: string = 'KlinesError'
  readonly code: Code
  readonly suggestions: string[]
  readonly data: DataOf<Code>

  constructor(code: Code, message: string, details: ErrorDetails<Code> = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.suggestions = details.suggestions ?? []
    // Every value of every code may be missing.
    this.data = details.data ?? ({} as DataOf<Code>)
  }
}

/** Whether `error` is a KlinesError, and has that code if one is given: then its `data` has the values of that code. */
export function isKlinesError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is KlinesError<Code> {
  return error instanceof KlinesError && (code === undefined || error.code === code)
}
