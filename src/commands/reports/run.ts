import { plural } from '../../candles/text.js'
import { changedCell, coverage, fingerprint, location, seriesName, set, sum, sumOf } from '../../cli/fields.js'
import type { Field, Fields } from '../../cli/report.js'
import * as s from '../../cli/report.js'
import { describeCost } from '../../cli/terminal/progress-text.js'
import type { DryRunReport } from '../../engine/klines.js'
import { describeRun, type RunResult } from './run-text.js'

type SeriesDryRun = DryRunReport['series'][number]

/** The sum of a number of all series. */
function total(key: 'candles' | 'newCandles'): Field<number> {
  return s.derived(s.count(), ({ series }: RunResult) => sumOf(series, key))
}

const series = s.object({
  ...seriesName,
  candles: s.count(),
  newCandles: s.count('candles that were not cached before'),
  firstOpenTime: s.time(),
  lastOpenTime: s.time(),
  gaps: s.count(),
  missing: s.count('candles missing in the gaps'),
  restated: s.count('cached candles whose values the service changed'),
  changes: s.list(changedCell, 'values of restated candles before and after, the first 1,000'),
  windows: s.object({
    total: s.count(),
    cached: s.count(),
    fetched: s.count(),
    revalidated: s.count(),
    retained: s.count(),
  }),
  cachedBytes: s.count('size of the files of these windows'),
  coverage,
})

const file = s.object({
  path: s.text(),
  format: s.text(),
  series: s.list(s.object(seriesName)),
  candles: s.count(),
  bytes: s.count(),
  compression: s.text('of the pages of a Parquet file, or gzip for a name that ends in .gz'),
  inexactDoubles: s.count(),
})

const lake = s.object({
  folder: s.text(),
  written: s.count('parts that were written'),
  unchanged: s.count('parts of the requested series that stay'),
  removed: s.list(s.text(), 'parts that were removed, relative to the folder'),
  notRequested: s.list(s.text(), 'series of the lake that were not requested, such as BTCUSDT 1h'),
})

const lock = s.object({ path: s.text(), series: s.count('locked series, whose candles are exactly those of the lock') })

/** `download`, `export` and `update`. */
export const Run = s.report(
  'klines-run',
  {
    ...location,
    series: s.list(series),
    candles: total('candles'),
    newCandles: total('newCandles'),
    requests: s.count(),
    bytes: s.count('bytes of bodies as they were received'),
    elapsedMs: s.derived(s.count(), ({ elapsedMs }: RunResult) => Math.round(elapsedMs)),
    lock: s.optional(lock),
    files: s.derived(
      s.list(file, 'files that were written; of a lake its new and replaced parts'),
      ({ files = [] }: RunResult) => files,
    ),
    fingerprints: s.optional(
      s.object({ series: s.list(s.object(fingerprint)), set }, 'with --fingerprint, of series with candles'),
    ),
    lake: s.optional(lake),
  },
  describeRun,
)

const windows = s.column('windows', s.count(), ({ windows }: SeriesDryRun) => windows.total)
const cached = s.column('cached', s.count(), ({ windows }: SeriesDryRun) => windows.cached)
const open = s.column('to revalidate', s.count(), ({ windows }: SeriesDryRun) => windows.open)
const missing = s.column('to download', s.count(), ({ windows }: SeriesDryRun) => windows.missing)

/** `--dry-run`. */
export const DryRun = s.report(
  'klines-dry-run',
  {
    ...location,
    dryRun: s.derived(s.flag(), () => true),
    requests: s.count('requests that these windows would take'),
    limitMs: {
      schema: {
        type: 'number',
        description: 'time of these requests by the limits of the service, ms; 0 without limits',
      },
    } as Field<number>,
    files: s.list(s.text(), 'paths that would be written, - for stdout'),
    removed: s.list(s.text(), 'paths that --prune would remove'),
    series: s.list(
      s.object({
        ...seriesName,
        windows: s.object({
          total: s.count(),
          cached: s.count(),
          stale: s.derived(s.count('cached, and would be revalidated'), ({ open }: SeriesDryRun['windows']) => open),
          missing: s.count(),
        }),
      }),
    ),
  },
  (result: DryRunReport) => {
    const { series, files, removed, mirror, offline } = result
    const names = { symbol: s.column('symbol', s.text()), interval: s.column('interval', s.text()) }
    const wanted: Fields = offline ? { missing: s.column('missing', missing) } : { open, missing }
    const left = sum(series.map(({ windows }) => windows.total - windows.cached))
    const outcome = offline
      ? `${plural(left, 'window')} missing${left > 0 ? ', so the export would fail' : ''}; nothing was written`
      : `${plural(left, 'window')} would be requested; nothing was downloaded or written`
    const lines = [s.textOf({ ...names, windows, cached, ...wanted }, series), '', `Dry run: ${outcome}.`]
    if (result.limitMs > 0) lines.push(`The run takes ${describeCost(result)}.`)
    const outputs = files.map(path => (path === '-' ? 'stdout' : path))
    if (outputs.length > 0) lines.push(`Files that would be written: ${outputs.join(', ')}`)
    if (removed.length > 0) lines.push(`Parts that would be removed: ${removed.join(', ')}`)
    return [...lines, `Mirror: ${mirror}`].join('\n')
  },
)
