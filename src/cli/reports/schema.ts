import Type from 'typebox'

/** The objects that `--json` prints, as JSON Schema. Their types follow from it. */

/** An object with the warnings of its run. */
function report<Properties extends Type.TProperties>($id: string, properties: Properties) {
  return Type.Object({ ...properties, warnings: list(Text) }, { $id, additionalProperties: false })
}

function object<Properties extends Type.TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, { ...described(description), additionalProperties: false })
}

function list<Schema extends Type.TSchema>(schema: Schema, description?: string) {
  return Type.Array(schema, described(description))
}

function nullable<Schema extends Type.TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], described(description))
}

type Literals<Words extends readonly string[]> = { -readonly [Index in keyof Words]: Type.TLiteral<Words[Index]> }

function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  const literals = words.map(word => Type.Literal(word)) as Type.TSchema[]
  return Type.Union(literals, described(description)) as Type.TUnion<Literals<Words>>
}

function described(description: string | undefined) {
  return description === undefined ? {} : { description }
}

const text = (description: string) => Type.String({ description })
const integer = (description: string) => Type.Integer({ description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const flag = (description: string) => Type.Boolean({ description })
const Text = Type.String()
const Integer = Type.Integer()
const Count = Type.Integer({ minimum: 0 })
const Time = nullable(Integer, 'ms since the epoch, UTC; null when there is none')

const mirror = text('folder of the mirror')
const baseUrl = nullable(Text, 'base address that the candles come from; null for a tree without mirror.json')
const sample = flag('whether the candles are the synthetic sample data')
const range = object({ from: Time, to: Time })
const location = { baseUrl, sample, mirror, range }
const seriesName = { symbol: Text, interval: Text }
const changedCell = object({ openTime: Integer, column: Text, before: Text, after: Text })

const coverage = object({
  interval: text('the length of the candles that are counted, of a resampled series the new one'),
  requested: range,
  first: Time,
  last: Time,
  shortAtStart: count('closed candles of the range that are missing before the first one'),
  shortAtEnd: count('closed candles of the range that are missing after the last one'),
  shortFrom: Time,
  listed: Type.Union([Integer, Type.Literal('unknown')], {
    description: 'since when the symbol is traded, ms since the epoch, UTC; unknown where nothing tells',
  }),
})

const fingerprint = {
  ...seriesName,
  fingerprint: text('klines:1: and a SHA-256 in hex'),
  candles: Count,
  firstOpenTime: Integer,
  lastOpenTime: Integer,
  years: list(
    object({ year: Integer, candles: Count, sha256: text('of the lines of the candles that open in that year, UTC') }),
    'the years that have candles',
  ),
}
const set = nullable(Text, 'fingerprint of all series, from two on: klines:1:set: and a SHA-256 in hex')

/** `fingerprint --json`. */
export const FingerprintSchema = report('klines-fingerprint', {
  series: list(
    object({
      ...fingerprint,
      coverage: Type.Optional(coverage),
      file: Type.Optional(text('file or folder that the candles are in')),
      named: Type.Optional(flag('whether a file of doubles names the fingerprint, so that it was not computed')),
    }),
  ),
  set,
})

const digest = nullable(object({ candles: Count, sha256: Text }), 'of the candles of that year; null without one')
const lockRange = object({
  from: integer('first open time, ms since the epoch, UTC'),
  to: integer('end of the open times, which is not part of them'),
})

/** `lock --json`. */
export const LockSchema = report('klines-lock', {
  path: text('the lock file'),
  baseUrl,
  mirror,
  series: list(object({ ...fingerprint, range: lockRange })),
  set,
  replaced: flag('whether there was another lock'),
  changes: list(
    object({
      ...seriesName,
      change: oneOf(['added', 'removed', 'changed']),
      years: list(Integer, 'the years whose candles differ'),
    }),
    'the series that differ from the lock that was replaced',
  ),
})

const lockedCandles = object({ fingerprint: Text, candles: Count })

/** `verify --lock --json`. */
export const LockCheckSchema = report('klines-lock-check', {
  path: text('the lock file'),
  baseUrl,
  mirror,
  verdict: oneOf(['equal', 'different', 'incomplete'], 'incomplete: no year differs, and windows are missing'),
  series: list(
    object({
      ...seriesName,
      range: lockRange,
      locked: lockedCandles,
      found: nullable(lockedCandles, 'null without a candle in the range'),
      years: list(
        object({ year: Integer, locked: digest, found: digest }),
        'the years that differ, as far as all their windows are there',
      ),
      missing: list(object({ startDate: Text, reason: Text }), 'windows that cannot be read'),
    }),
  ),
})

const diffSide = object({
  name: text('as it was named'),
  kind: oneOf(['file', 'mirror', 'service'], 'file: also a lake'),
})
const sideName = oneOf(['a', 'b'])

/** `diff --json`. */
export const DiffSchema = report('klines-diff', {
  verdict: oneOf(
    ['equal', 'different', 'incomplete', 'empty'],
    'incomplete: windows are missing, and all else is equal; empty: neither side has a candle in the range',
  ),
  a: diffSide,
  b: diffSide,
  range,
  series: list(
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
      coverage: object(
        { a: nullable(coverage), b: nullable(coverage) },
        'of each side; null for a file, and for a range without a named end',
      ),
      failures: list(object({ side: sideName, startDate: Text, reason: Text }), 'windows that are missing or corrupt'),
    }),
  ),
  isWhole: flag('whether all differences are listed, as with -v; else the first 20 a series'),
  differences: list(
    Type.Union([
      object({ ...seriesName, kind: Type.Literal('cell'), openTime: Integer, column: Text, a: Text, b: Text }),
      object({
        ...seriesName,
        kind: Type.Literal('only'),
        side: sideName,
        position: oneOf(['before', 'inside', 'after'], 'before the first or after the last candle of the other side'),
        firstOpenTime: Integer,
        lastOpenTime: Integer,
        candles: count('all from the first to the last one'),
      }),
    ]),
    'of each series in order of time',
  ),
})

/** `download --json` and `export --json`. */
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
      delta: Type.Optional(
        object({
          version: count('newest version of the Delta table'),
          isNew: flag('whether this run made that version'),
          vacuumed: count('files of old versions that were removed'),
        }),
      ),
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
  vacuumed: list(Text, 'paths that --vacuum would remove, also of entries of the log'),
  series: list(
    object({
      ...seriesName,
      windows: object({ total: Count, cached: Count, stale: Count, unrecorded: Count, missing: Count }),
    }),
  ),
})

/** `update --json`. */
export const UpdateSchema = report('klines-update', {
  updates: list(
    object({
      path: nullable(Text, 'a file or a lake; null for the mirror'),
      state: oneOf(['updated', 'up to date', 'failed', 'planned'], 'planned: a dry run says what would be done'),
      run: Type.Optional(Type.Omit(RunSchema, ['warnings'])),
      plan: Type.Optional(Type.Omit(DryRunSchema, ['warnings'])),
      error: Type.Optional(object({ code: Text, message: Text, exitCode: Integer })),
    }),
  ),
})

const extreme = object({ price: Text, openTime: Integer })

/** `chart --json`. Prices are the exact decimals of the source. */
export const ChartSchema = report('klines-chart', {
  ...location,
  series: list(
    object({
      symbol: Text,
      interval: text('length of the candles as drawn'),
      resampledFrom: nullable(Text, 'interval of the source; null for its own candles'),
      firstOpenTime: Integer,
      lastOpenTime: Integer,
      candles: Count,
      missing: count('candles missing between the first and the last one'),
      high: extreme,
      low: extreme,
      last: text('close of the last candle'),
      change: nullable(Text, 'from the first open to the last close, such as +13.15%; null when the first open is 0'),
      coverage,
      rows: list(Type.Tuple([Integer, Text, Text, Text, Text, Text]), 'open time, open, high, low, close, volume'),
    }),
  ),
})

/** `sql -o FILE --json`. */
export const SqlSchema = report('klines-sql', {
  path: text('file of the result'),
  format: Text,
  rows: Count,
  bytes: Count,
})

/** `serve --json`: printed once the server listens. */
export const ServeSchema = report('klines-serve', {
  url: text('address of the server'),
  baseUrl,
  sample,
  mirror,
  upstream: nullable(Text, 'the service that missing windows are fetched from; null without one'),
  strict: flag('whether the greeting API accepts only what the public instance accepts'),
})

const faultyFile = object({ path: Text, reason: Text })

/** `mirror verify --json`. */
export const VerifySchema = report('klines-mirror-verify', {
  mirror,
  files: count('files that were read'),
  windows: Count,
  candles: count('candles of windows that can be read'),
  bytes: Count,
  corrupt: list(faultyFile, 'corrupt files, before any repair'),
  strays: list(Text, 'files that have no place in the tree'),
  repaired: list(Text, 'corrupt files that --repair fetched again or removed'),
  failed: list(faultyFile, 'corrupt files that --repair could not replace'),
})

const removal = {
  mirror,
  removed: list(Text, 'relative to the mirror'),
  bytes: count('size of the removed files'),
}

/** `mirror prune --json`. */
export const PruneSchema = report('klines-mirror-prune', {
  dryRun: flag('whether they only would be removed'),
  ...removal,
})

/** `mirror clear --json`; nothing is removed when the answer was no. */
export const ClearSchema = report('klines-mirror-clear', removal)

/** `mirror publish --json`. */
export const PublishSchema = report('klines-mirror-publish', {
  mirror,
  baseUrl: text('base address that the candles come from'),
  tree: text('folder to serve as /api'),
  symbols: list(Text),
  intervals: list(Text),
  windows: count('windows in the tree, empty ones too'),
  emptyWritten: count('empty windows that were written'),
  listsWritten: count('lists that were written'),
})

/** `mirror changes --json`. */
export const ChangesSchema = report('klines-mirror-changes', {
  mirror,
  changes: list(
    object({
      time: integer('when the change was seen, ms since the epoch, UTC'),
      ...seriesName,
      startDate: text('of the window, YYYY-MM-DD'),
      openTime: integer('of the candle, ms since the epoch, UTC'),
      column: Text,
      before: nullable(Text, 'null for a candle that was not there'),
      after: Text,
    }),
    'oldest first',
  ),
  unreadable: count('lines of the file that are no changes, such as torn ones'),
})

const candle = object({
  open_time: Integer,
  open: Text,
  high: Text,
  low: Text,
  close: Text,
  volume: Text,
  close_time: Integer,
  quote_volume: Text,
  count: Integer,
  taker_buy_volume: Text,
  taker_buy_quote_volume: Text,
  ignore: Text,
})

/** `show --json`. All times are ms since the epoch, UTC. */
export const ShowSchema = report('klines-show', {
  ...seriesName,
  baseUrl,
  sample,
  mirror,
  time: integer('the requested time'),
  state: oneOf(
    ['candle', 'gap', 'before', 'after', 'open', 'unsettled'],
    'whether there is a candle; else a gap between two, nothing before the first or after the last one, a time that is not over, or a window that may have got it since',
  ),
  openTime: integer('when the candle opens, or would open'),
  endTime: integer('when the next one opens'),
  candle: nullable(candle),
  window: nullable(
    object({
      startDate: Text,
      from: Integer,
      to: Integer,
      cached: Type.Boolean(),
      final: flag('whether it is never downloaded again'),
      candles: Count,
      bytes: Count,
      fetchedTime: Time,
      storedTime: Time,
      renderedTime: Time,
    }),
    'when the service last sent it and when it made it, by the record of the mirror, or else by the time of its file; and since when its file is on this disk',
  ),
  before: Time,
  after: Time,
  gaps: list(
    object({
      from: Integer,
      to: Integer,
      missing: Count,
      outage: flag('whether other symbols of the mirror lack candles then, too'),
      lacking: list(Text, 'these symbols, of the first 20'),
    }),
    'that the time lies in, or that are next to the candle',
  ),
  finer: list(
    object({
      interval: Text,
      candles: Count,
      sum: nullable(candle, 'what these candles add up to, exactly'),
      equal: nullable(Type.Boolean(), 'null when they were not compared'),
      differences: list(
        object({
          column: nullable(Text, 'null when one of the candles is missing'),
          value: Text,
          expected: Text,
          note: nullable(Text, 'why it is no fault'),
        }),
      ),
      reason: nullable(Text, 'why they were not compared'),
    }),
    'each finer interval of the mirror, the finest first',
  ),
  check: nullable(
    object({
      baseUrl: Text,
      equal: flag('new candles at the end of the window do not count'),
      changed: list(changedCell),
      added: list(Integer, 'open times of candles that are not cached'),
      lost: list(Integer, 'open times of cached candles that are not there any more'),
    }),
    'what the service has by now of the window; null without --check',
  ),
})

/** `config --json`. */
export const ConfigSchema = report('klines-config', {
  values: list(
    object({
      key: text('as a config file has it: a flag, or COMMAND.FLAG'),
      value: Type.Union([Text, Type.Number(), Type.Boolean(), list(Type.Union([Text, Type.Number()]))]),
      origin: oneOf(['environment', 'folder', 'user']),
      source: text('the variable or the file'),
      overridden: flag('whether a stronger origin sets it for every command'),
    }),
    'by key, the strongest first',
  ),
  files: list(object({ origin: oneOf(['folder', 'user']), path: Text, exists: Type.Boolean() })),
  folderKeys: list(Text, "the keys that a folder's file may set"),
})

/** What any command prints with `--json` when it fails. */
export const ErrorSchema = report('klines-error', {
  error: object({
    code: Text,
    message: Text,
    exitCode: Type.Integer({ minimum: 1, maximum: 255 }),
    suggestions: list(Text),
    data: Type.Optional(Type.Record(Text, Type.Unknown())),
  }),
})

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
