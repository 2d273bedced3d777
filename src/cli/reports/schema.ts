import Type from 'typebox'

/** The objects that `--json` prints, as JSON Schema. Their types follow from it. */

function object<Properties extends Type.TProperties>(
  properties: Properties,
  options: { $id?: string; description?: string } = {},
) {
  return Type.Object(properties, { ...options, additionalProperties: false })
}

const Text = Type.String()
const Count = Type.Integer({ minimum: 0 })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const Time = Type.Union([Type.Integer(), Type.Null()], {
  description: 'ms since the epoch, UTC; null when there is none',
})

const warnings = Type.Array(Text)
const mirror = Type.String({ description: 'folder of the mirror' })
const baseUrl = Type.Union([Text, Type.Null()], {
  description: 'base address that the candles come from; null for a tree without mirror.json',
})
const sample = Type.Boolean({ description: 'whether the candles are the synthetic sample data' })
const location = { baseUrl, sample, mirror, range: object({ from: Time, to: Time }), warnings }
const seriesName = { symbol: Text, interval: Text }

const coverage = object({
  interval: Type.String({
    description: 'the length of the candles that are counted, of a resampled series the new one',
  }),
  requested: object({ from: Time, to: Time }),
  first: Time,
  last: Time,
  shortAtStart: count('closed candles of the range that are missing before the first one'),
  shortAtEnd: count('closed candles of the range that are missing after the last one'),
  shortFrom: Time,
  listed: Type.Union([Type.Integer(), Type.Literal('unknown')], {
    description: 'since when the symbol is traded, ms since the epoch, UTC; unknown where nothing tells',
  }),
})

const fingerprint = {
  ...seriesName,
  fingerprint: Type.String({ description: 'klines:1: and a SHA-256 in hex' }),
  candles: Count,
  firstOpenTime: Type.Integer(),
  lastOpenTime: Type.Integer(),
  years: Type.Array(
    object({
      year: Type.Integer(),
      candles: Count,
      sha256: Type.String({ description: 'of the lines of the candles that open in that year, UTC' }),
    }),
    { description: 'the years that have candles' },
  ),
}
const set = Type.Union([Text, Type.Null()], {
  description: 'fingerprint of all series, from two on: klines:1:set: and a SHA-256 in hex',
})

/** `fingerprint --json`. */
export const FingerprintSchema = object(
  {
    series: Type.Array(
      object({
        ...fingerprint,
        file: Type.Optional(Type.String({ description: 'file or folder that the candles are in' })),
        named: Type.Optional(
          Type.Boolean({ description: 'whether a file of doubles names the fingerprint, so that it was not computed' }),
        ),
      }),
    ),
    set,
    warnings,
  },
  { $id: 'klines-fingerprint' },
)

const digest = Type.Union([object({ candles: Count, sha256: Text }), Type.Null()], {
  description: 'of the candles of that year; null without one',
})
const lockRange = object({
  from: Type.Integer({ description: 'first open time, ms since the epoch, UTC' }),
  to: Type.Integer({ description: 'end of the open times, which is not part of them' }),
})

/** `lock --json`. */
export const LockSchema = object(
  {
    path: Type.String({ description: 'the lock file' }),
    baseUrl,
    mirror,
    series: Type.Array(object({ ...fingerprint, range: lockRange })),
    set,
    replaced: Type.Boolean({ description: 'whether there was another lock' }),
    changes: Type.Array(
      object({
        ...seriesName,
        change: Type.Union([Type.Literal('added'), Type.Literal('removed'), Type.Literal('changed')]),
        years: Type.Array(Type.Integer(), { description: 'the years whose candles differ' }),
      }),
      { description: 'the series that differ from the lock that was replaced' },
    ),
    warnings,
  },
  { $id: 'klines-lock' },
)

/** `verify --lock --json`. */
export const LockCheckSchema = object(
  {
    path: Type.String({ description: 'the lock file' }),
    baseUrl,
    mirror,
    verdict: Type.Union([Type.Literal('equal'), Type.Literal('different'), Type.Literal('incomplete')], {
      description: 'incomplete: no year differs, and windows are missing',
    }),
    series: Type.Array(
      object({
        ...seriesName,
        range: lockRange,
        locked: object({ fingerprint: Text, candles: Count }),
        found: Type.Union([object({ fingerprint: Text, candles: Count }), Type.Null()], {
          description: 'null without a candle in the range',
        }),
        years: Type.Array(object({ year: Type.Integer(), locked: digest, found: digest }), {
          description: 'the years that differ, as far as all their windows are there',
        }),
        missing: Type.Array(object({ startDate: Text, reason: Text }), { description: 'windows that cannot be read' }),
      }),
    ),
    warnings,
  },
  { $id: 'klines-lock-check' },
)

const diffSide = object({
  name: Type.String({ description: 'as it was named' }),
  kind: Type.Union([Type.Literal('file'), Type.Literal('mirror'), Type.Literal('service')], {
    description: 'file: also a lake',
  }),
})
const sideName = Type.Union([Type.Literal('a'), Type.Literal('b')])

/** `diff --json`. */
export const DiffSchema = object(
  {
    verdict: Type.Union(
      [Type.Literal('equal'), Type.Literal('different'), Type.Literal('incomplete'), Type.Literal('empty')],
      {
        description:
          'incomplete: windows are missing, and all else is equal; empty: neither side has a candle in the range',
      },
    ),
    a: diffSide,
    b: diffSide,
    range: object({ from: Time, to: Time }),
    series: Type.Array(
      object({
        ...seriesName,
        both: count('candles that both sides have'),
        changedCandles: Count,
        changedCells: Count,
        onlyInA: count('candles that only side A has'),
        onlyInB: count('candles that only side B has'),
        beyond: count('of these, candles before the first or after the last one of the other side'),
        notCompared: count('candles in windows that the other side lacks'),
        total: count('differences, of which consecutive candles of one side are one'),
        failures: Type.Array(object({ side: sideName, startDate: Text, reason: Text }), {
          description: 'windows that are missing or corrupt',
        }),
      }),
    ),
    isWhole: Type.Boolean({
      description: 'whether all differences are listed, as with -v; else the first 20 a series',
    }),
    differences: Type.Array(
      Type.Union([
        object({
          ...seriesName,
          kind: Type.Literal('cell'),
          openTime: Type.Integer(),
          column: Text,
          a: Text,
          b: Text,
        }),
        object({
          ...seriesName,
          kind: Type.Literal('only'),
          side: sideName,
          position: Type.Union([Type.Literal('before'), Type.Literal('inside'), Type.Literal('after')], {
            description: 'before the first or after the last candle of the other side',
          }),
          firstOpenTime: Type.Integer(),
          lastOpenTime: Type.Integer(),
          candles: count('all from the first to the last one'),
        }),
      ]),
      { description: 'of each series in order of time' },
    ),
    warnings,
  },
  { $id: 'klines-diff' },
)

/** `download --json` and `export --json`. */
export const RunSchema = object(
  {
    ...location,
    series: Type.Array(
      object({
        ...seriesName,
        candles: Count,
        newCandles: count('candles that were not cached before'),
        firstOpenTime: Time,
        lastOpenTime: Time,
        gaps: Count,
        missing: count('candles missing in the gaps'),
        restated: count('cached candles whose values the service changed'),
        changes: Type.Array(object({ openTime: Type.Integer(), column: Text, before: Text, after: Text }), {
          description: 'values of restated candles before and after, the first 1,000',
        }),
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
    files: Type.Array(
      object({
        path: Text,
        format: Text,
        series: Type.Array(object(seriesName)),
        candles: Count,
        bytes: Count,
        compression: Type.String({
          description: 'of the pages of a Parquet file, or gzip for a name that ends in .gz',
        }),
        inexactDoubles: Count,
      }),
      { description: 'files that were written; of a lake its new and replaced parts' },
    ),
    fingerprints: Type.Optional(
      object(
        { series: Type.Array(object(fingerprint)), set },
        { description: 'with --fingerprint, of series with candles' },
      ),
    ),
    lake: Type.Optional(
      object({
        folder: Text,
        written: count('parts that were written'),
        unchanged: count('parts of the requested series that stay'),
        removed: Type.Array(Text, { description: 'parts that were removed, relative to the folder' }),
        notRequested: Type.Array(Text, {
          description: 'series of the lake that were not requested, such as BTCUSDT 1h',
        }),
        delta: Type.Optional(
          object({
            version: count('newest version of the Delta table'),
            isNew: Type.Boolean({ description: 'whether this run made that version' }),
            vacuumed: count('files of old versions that were removed'),
          }),
        ),
      }),
    ),
  },
  { $id: 'klines-run' },
)

/** `--dry-run --json`. */
export const DryRunSchema = object(
  {
    ...location,
    dryRun: Type.Literal(true),
    requests: count('requests that these windows would take'),
    limitMs: Type.Number({ description: 'time of these requests by the limits of the service, ms; 0 without limits' }),
    files: Type.Array(Text, { description: 'paths that would be written, - for stdout' }),
    removed: Type.Array(Text, { description: 'paths that --prune would remove' }),
    vacuumed: Type.Array(Text, { description: 'paths that --vacuum would remove, also of entries of the log' }),
    series: Type.Array(
      object({
        ...seriesName,
        windows: object({ total: Count, cached: Count, stale: Count, unrecorded: Count, missing: Count }),
      }),
    ),
  },
  { $id: 'klines-dry-run' },
)

/** `update --json`. */
export const UpdateSchema = object(
  {
    updates: Type.Array(
      object({
        path: Type.Union([Text, Type.Null()], { description: 'a file or a lake; null for the mirror' }),
        state: Type.Union(
          [Type.Literal('updated'), Type.Literal('up to date'), Type.Literal('failed'), Type.Literal('planned')],
          { description: 'planned: a dry run says what would be done' },
        ),
        run: Type.Optional(Type.Omit(RunSchema, ['warnings'])),
        plan: Type.Optional(Type.Omit(DryRunSchema, ['warnings'])),
        error: Type.Optional(object({ code: Text, message: Text, exitCode: Type.Integer() })),
      }),
    ),
    warnings,
  },
  { $id: 'klines-update' },
)

const extreme = object({ price: Text, openTime: Type.Integer() })

/** `chart --json`. Prices are the exact decimals of the source. */
export const ChartSchema = object(
  {
    ...location,
    series: Type.Array(
      object({
        symbol: Text,
        interval: Type.String({ description: 'length of the candles as drawn' }),
        resampledFrom: Type.Union([Text, Type.Null()], {
          description: 'interval of the source; null for its own candles',
        }),
        firstOpenTime: Type.Integer(),
        lastOpenTime: Type.Integer(),
        candles: Count,
        missing: count('candles missing between the first and the last one'),
        high: extreme,
        low: extreme,
        last: Type.String({ description: 'close of the last candle' }),
        change: Type.Union([Text, Type.Null()], {
          description: 'from the first open to the last close, such as +13.15%; null when the first open is 0',
        }),
        coverage,
        rows: Type.Array(Type.Tuple([Type.Integer(), Text, Text, Text, Text, Text]), {
          description: 'open time, open, high, low, close, volume',
        }),
      }),
    ),
  },
  { $id: 'klines-chart' },
)

/** `sql -o FILE --json`. */
export const SqlSchema = object(
  {
    path: Type.String({ description: 'file of the result' }),
    format: Text,
    rows: Count,
    bytes: Count,
    warnings,
  },
  { $id: 'klines-sql' },
)

/** `serve --json`: printed once the server listens. */
export const ServeSchema = object(
  {
    url: Type.String({ description: 'address of the server' }),
    baseUrl,
    sample,
    mirror,
    upstream: Type.Union([Text, Type.Null()], {
      description: 'the service that missing windows are fetched from; null without one',
    }),
    strict: Type.Boolean({ description: 'whether the greeting API accepts only what the public instance accepts' }),
    warnings,
  },
  { $id: 'klines-serve' },
)

const faultyFiles = (description: string) => Type.Array(object({ path: Text, reason: Text }), { description })

/** `mirror verify --json`. */
export const VerifySchema = object(
  {
    mirror,
    files: count('files that were read'),
    windows: Count,
    candles: count('candles of windows that can be read'),
    bytes: Count,
    corrupt: faultyFiles('corrupt files, before any repair'),
    strays: Type.Array(Text, { description: 'files that have no place in the tree' }),
    repaired: Type.Array(Text, { description: 'corrupt files that --repair fetched again or removed' }),
    failed: faultyFiles('corrupt files that --repair could not replace'),
    warnings,
  },
  { $id: 'klines-mirror-verify' },
)

const removal = {
  mirror,
  removed: Type.Array(Text, { description: 'relative to the mirror' }),
  bytes: count('size of the removed files'),
  warnings,
}

/** `mirror prune --json`. */
export const PruneSchema = object(
  { dryRun: Type.Boolean({ description: 'whether they only would be removed' }), ...removal },
  { $id: 'klines-mirror-prune' },
)

/** `mirror clear --json`; nothing is removed when the answer was no. */
export const ClearSchema = object(removal, { $id: 'klines-mirror-clear' })

/** `mirror publish --json`. */
export const PublishSchema = object(
  {
    mirror,
    baseUrl: Type.String({ description: 'base address that the candles come from' }),
    tree: Type.String({ description: 'folder to serve as /api' }),
    symbols: Type.Array(Text),
    intervals: Type.Array(Text),
    windows: count('windows in the tree, empty ones too'),
    emptyWritten: count('empty windows that were written'),
    listsWritten: count('lists that were written'),
    warnings,
  },
  { $id: 'klines-mirror-publish' },
)

/** `mirror changes --json`. */
export const ChangesSchema = object(
  {
    mirror,
    changes: Type.Array(
      object({
        time: Type.Integer({ description: 'when the change was seen, ms since the epoch, UTC' }),
        ...seriesName,
        startDate: Type.String({ description: 'of the window, YYYY-MM-DD' }),
        openTime: Type.Integer({ description: 'of the candle, ms since the epoch, UTC' }),
        column: Text,
        before: Type.Union([Text, Type.Null()], { description: 'null for a candle that was not there' }),
        after: Text,
      }),
      { description: 'oldest first' },
    ),
    unreadable: count('lines of the file that are no changes, such as torn ones'),
    warnings,
  },
  { $id: 'klines-mirror-changes' },
)

const candle = object({
  open_time: Type.Integer(),
  open: Text,
  high: Text,
  low: Text,
  close: Text,
  volume: Text,
  close_time: Type.Integer(),
  quote_volume: Text,
  count: Type.Integer(),
  taker_buy_volume: Text,
  taker_buy_quote_volume: Text,
  ignore: Text,
})
const cell = object({ openTime: Type.Integer(), column: Text, before: Text, after: Text })

/** `show --json`. All times are ms since the epoch, UTC. */
export const ShowSchema = object(
  {
    ...seriesName,
    baseUrl,
    sample,
    mirror,
    time: Type.Integer({ description: 'the requested time' }),
    state: Type.Union(
      [
        Type.Literal('candle'),
        Type.Literal('gap'),
        Type.Literal('before'),
        Type.Literal('after'),
        Type.Literal('open'),
        Type.Literal('unsettled'),
      ],
      {
        description:
          'whether there is a candle; else a gap between two, nothing before the first or after the last one, a time that is not over, or a window that may have got it since',
      },
    ),
    openTime: Type.Integer({ description: 'when the candle opens, or would open' }),
    endTime: Type.Integer({ description: 'when the next one opens' }),
    candle: Type.Union([candle, Type.Null()]),
    window: Type.Union(
      [
        object({
          startDate: Text,
          from: Type.Integer(),
          to: Type.Integer(),
          cached: Type.Boolean(),
          final: Type.Boolean({ description: 'whether it is never downloaded again' }),
          candles: Count,
          bytes: Count,
          fetchedTime: Time,
          storedTime: Time,
          renderedTime: Time,
        }),
        Type.Null(),
      ],
      {
        description:
          'when the service last sent it and when it made it, by the record of the mirror, or else by the time of its file; and since when its file is on this disk',
      },
    ),
    before: Time,
    after: Time,
    gaps: Type.Array(
      object({
        from: Type.Integer(),
        to: Type.Integer(),
        missing: Count,
        outage: Type.Boolean({ description: 'whether other symbols of the mirror lack candles then, too' }),
        lacking: Type.Array(Text, { description: 'these symbols, of the first 20' }),
      }),
      { description: 'that the time lies in, or that are next to the candle' },
    ),
    finer: Type.Array(
      object({
        interval: Text,
        candles: Count,
        sum: Type.Union([candle, Type.Null()], { description: 'what these candles add up to, exactly' }),
        equal: Type.Union([Type.Boolean(), Type.Null()], { description: 'null when they were not compared' }),
        differences: Type.Array(
          object({
            column: Type.Union([Text, Type.Null()], { description: 'null when one of the candles is missing' }),
            value: Text,
            expected: Text,
            note: Type.Union([Text, Type.Null()], { description: 'why it is no fault' }),
          }),
        ),
        reason: Type.Union([Text, Type.Null()], { description: 'why they were not compared' }),
      }),
      { description: 'each finer interval of the mirror, the finest first' },
    ),
    check: Type.Union(
      [
        object({
          baseUrl: Text,
          equal: Type.Boolean({ description: 'new candles at the end of the window do not count' }),
          changed: Type.Array(cell),
          added: Type.Array(Type.Integer(), { description: 'open times of candles that are not cached' }),
          lost: Type.Array(Type.Integer(), { description: 'open times of cached candles that are not there any more' }),
        }),
        Type.Null(),
      ],
      { description: 'what the service has by now of the window; null without --check' },
    ),
    warnings,
  },
  { $id: 'klines-show' },
)

/** `config --json`. */
export const ConfigSchema = object(
  {
    values: Type.Array(
      object({
        key: Type.String({ description: 'as a config file has it: a flag, or COMMAND.FLAG' }),
        value: Type.Union([Text, Type.Number(), Type.Boolean(), Type.Array(Type.Union([Text, Type.Number()]))]),
        origin: Type.Union([Type.Literal('environment'), Type.Literal('folder'), Type.Literal('user')]),
        source: Type.String({ description: 'the variable or the file' }),
        overridden: Type.Boolean({ description: 'whether a stronger origin sets it for every command' }),
      }),
      { description: 'by key, the strongest first' },
    ),
    files: Type.Array(
      object({
        origin: Type.Union([Type.Literal('folder'), Type.Literal('user')]),
        path: Text,
        exists: Type.Boolean(),
      }),
    ),
    folderKeys: Type.Array(Text, { description: "the keys that a folder's file may set" }),
    warnings,
  },
  { $id: 'klines-config' },
)

/** What any command prints with `--json` when it fails. */
export const ErrorSchema = object(
  {
    error: object({
      code: Text,
      message: Text,
      exitCode: Type.Integer({ minimum: 1, maximum: 255 }),
      suggestions: Type.Array(Text),
      data: Type.Optional(Type.Record(Text, Type.Unknown())),
    }),
    warnings,
  },
  { $id: 'klines-error' },
)

export type DiffObject = Type.Static<typeof DiffSchema>
export type FingerprintObject = Type.Static<typeof FingerprintSchema>
export type UpdateObject = Type.Static<typeof UpdateSchema>
export type LockObject = Type.Static<typeof LockSchema>
export type LockCheckObject = Type.Static<typeof LockCheckSchema>
export type RunObject = Type.Static<typeof RunSchema>
export type DryRunObject = Type.Static<typeof DryRunSchema>
export type ChartObject = Type.Static<typeof ChartSchema>
export type SqlObject = Type.Static<typeof SqlSchema>
export type ServeObject = Type.Static<typeof ServeSchema>
export type VerifyObject = Type.Static<typeof VerifySchema>
export type PruneObject = Type.Static<typeof PruneSchema>
export type PublishObject = Type.Static<typeof PublishSchema>
export type ChangesObject = Type.Static<typeof ChangesSchema>
export type ShowObject = Type.Static<typeof ShowSchema>
export type ConfigObject = Type.Static<typeof ConfigSchema>
export type ClearObject = Type.Static<typeof ClearSchema>
