import { plural } from '../../candles/text.js'
import type { DryRunReport, SeriesDryRun } from '../../engine/dry-run.js'
import { report, tableOf } from '../report.js'
import { column, count, derived, type Field, type Fields, flag, list, object, optional, text, time } from '../schema.js'
import { describeCost } from '../terminal/progress-text.js'
import { textTable } from '../terminal/table.js'
import { changedCell, coverage, fingerprint, location, seriesName, set, sum, sumOf } from './fields.js'
import { describeRun, type RunResult } from './run-text.js'

/** The sum of a number of all series. */
function total(key: 'candles' | 'newCandles'): Field<number> {
  return derived(count(), ({ series }: RunResult) => sumOf(series, key))
}

const series = object({
  ...seriesName,
  candles: count(),
  newCandles: count('candles that were not cached before'),
  firstOpenTime: time(),
  lastOpenTime: time(),
  gaps: count(),
  missing: count('candles missing in the gaps'),
  restated: count('cached candles whose values the service changed'),
  changes: list(changedCell, 'values of restated candles before and after, the first 1,000'),
  windows: object({ total: count(), cached: count(), fetched: count(), revalidated: count(), retained: count() }),
  cachedBytes: count('size of the files of these windows'),
  coverage,
})

const file = object({
  path: text(),
  format: text(),
  series: list(object(seriesName)),
  candles: count(),
  bytes: count(),
  compression: text('of the pages of a Parquet file, or gzip for a name that ends in .gz'),
  inexactDoubles: count(),
})

const lake = object({
  folder: text(),
  written: count('parts that were written'),
  unchanged: count('parts of the requested series that stay'),
  removed: list(text(), 'parts that were removed, relative to the folder'),
  notRequested: list(text(), 'series of the lake that were not requested, such as BTCUSDT 1h'),
})

const lock = object({ path: text(), series: count('locked series, whose candles are exactly those of the lock') })

/** `download`, `export` and `update`. */
export const Run = report(
  'klines-run',
  {
    ...location,
    series: list(series),
    candles: total('candles'),
    newCandles: total('newCandles'),
    requests: count(),
    bytes: count('bytes of bodies as they were received'),
    elapsedMs: derived(count(), ({ elapsedMs }: RunResult) => Math.round(elapsedMs)),
    lock: optional(lock),
    files: derived(
      list(file, 'files that were written; of a lake its new and replaced parts'),
      ({ files = [] }: RunResult) => files,
    ),
    fingerprints: optional(
      object({ series: list(object(fingerprint)), set }, 'with --fingerprint, of series with candles'),
    ),
    lake: optional(lake),
  },
  describeRun,
)

const windows = derived(column('windows', count()), ({ windows }: SeriesDryRun) => windows.total)
const cached = derived(column('cached', count()), ({ windows }: SeriesDryRun) => windows.cached)
const open = derived(column('to revalidate', count()), ({ windows }: SeriesDryRun) => windows.open)
const missing = derived(column('to download', count()), ({ windows }: SeriesDryRun) => windows.missing)

/** `--dry-run`. */
export const DryRun = report(
  'klines-dry-run',
  {
    ...location,
    dryRun: derived(flag(), () => true),
    requests: count('requests that these windows would take'),
    limitMs: {
      schema: {
        type: 'number',
        description: 'time of these requests by the limits of the service, ms; 0 without limits',
      },
    } as Field<number>,
    files: list(text(), 'paths that would be written, - for stdout'),
    removed: list(text(), 'paths that --prune would remove'),
    series: list(
      object({
        ...seriesName,
        windows: object({
          total: count(),
          cached: count(),
          stale: derived(count('cached, and would be revalidated'), ({ open }: SeriesDryRun['windows']) => open),
          missing: count(),
        }),
      }),
    ),
  },
  (result: DryRunReport) => {
    const { series, files, removed, mirror, offline } = result
    const names = { symbol: column('symbol', text()), interval: column('interval', text()) }
    const wanted: Fields = offline ? { missing: column('missing', missing) } : { open, missing }
    const left = sum(series.map(({ windows }) => windows.total - windows.cached))
    const outcome = offline
      ? `${plural(left, 'window')} missing${left > 0 ? ', so the export would fail' : ''}; nothing was written`
      : `${plural(left, 'window')} would be requested; nothing was downloaded or written`
    const lines = [textTable(tableOf({ ...names, windows, cached, ...wanted }, series)), '', `Dry run: ${outcome}.`]
    if (result.limitMs > 0) lines.push(`The run takes ${describeCost(result)}.`)
    const outputs = files.map(path => (path === '-' ? 'stdout' : path))
    if (outputs.length > 0) lines.push(`Files that would be written: ${outputs.join(', ')}`)
    if (removed.length > 0) lines.push(`Parts that would be removed: ${removed.join(', ')}`)
    return [...lines, `Mirror: ${mirror}`].join('\n')
  },
)
