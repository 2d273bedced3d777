import type { ErrorCode } from '../klines/errors.js'

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
  bad_query: ExitCode.Usage,
  duckdb_missing: ExitCode.Usage,
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
  no_memory: ExitCode.Unexpected,
  no_candles: ExitCode.NoCandles,
  output_closed: ExitCode.Done,
  lake_busy: ExitCode.Unreachable,
  unreachable: ExitCode.Unreachable,
  rate_limited: ExitCode.Unreachable,
}
