import Type from 'typebox'
import {
  Count,
  changedCell,
  count,
  coverage,
  fingerprint,
  list,
  location,
  object,
  report,
  seriesName,
  set,
  Text,
  Time,
  text,
} from './words.js'

/** `download --json`, `export --json` and `update --json`. */
export const RunSchema = report('klines-run', {
  ...location,
  series: list(
    object({
      ...seriesName,
      candles: Count,
      newCandles: count('candles that were not cached before'),
      firstOpenTime: Time,
      lastOpenTime: Time,
      gaps: Count,
      missing: count('candles missing in the gaps'),
      restated: count('cached candles whose values the service changed'),
      changes: list(changedCell, 'values of restated candles before and after, the first 1,000'),
      windows: object({ total: Count, cached: Count, fetched: Count, revalidated: Count, retained: Count }),
      cachedBytes: count('size of the files of these windows'),
      coverage,
    }),
  ),
  candles: Count,
  newCandles: Count,
  requests: Count,
  bytes: count('bytes of bodies as they were received'),
  elapsedMs: Count,
  lock: Type.Optional(
    object({ path: Text, series: count('locked series, whose candles are exactly those of the lock') }),
  ),
  files: list(
    object({
      path: Text,
      format: Text,
      series: list(object(seriesName)),
      candles: Count,
      bytes: Count,
      compression: text('of the pages of a Parquet file, or gzip for a name that ends in .gz'),
      inexactDoubles: Count,
    }),
    'files that were written; of a lake its new and replaced parts',
  ),
  fingerprints: Type.Optional(
    object({ series: list(object(fingerprint)), set }, 'with --fingerprint, of series with candles'),
  ),
  lake: Type.Optional(
    object({
      folder: Text,
      written: count('parts that were written'),
      unchanged: count('parts of the requested series that stay'),
      removed: list(Text, 'parts that were removed, relative to the folder'),
      notRequested: list(Text, 'series of the lake that were not requested, such as BTCUSDT 1h'),
    }),
  ),
})

/** `--dry-run --json`. */
export const DryRunSchema = report('klines-dry-run', {
  ...location,
  dryRun: Type.Literal(true),
  requests: count('requests that these windows would take'),
  limitMs: Type.Number({ description: 'time of these requests by the limits of the service, ms; 0 without limits' }),
  files: list(Text, 'paths that would be written, - for stdout'),
  removed: list(Text, 'paths that --prune would remove'),
  series: list(
    object({
      ...seriesName,
      windows: object({
        total: Count,
        cached: Count,
        stale: count('cached, and would be revalidated'),
        missing: Count,
      }),
    }),
  ),
})

export type RunObject = Type.Static<typeof RunSchema>
export type DryRunObject = Type.Static<typeof DryRunSchema>
