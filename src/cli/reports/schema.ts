import Type from 'typebox'

/** The objects that `--json` prints, as JSON Schema: the one source of their types. */

const Time = Type.Union([Type.Integer(), Type.Null()], {
  description: 'ms since the epoch, UTC; null when there is none',
})
const Count = Type.Integer({ minimum: 0 })

const common = {
  baseUrl: Type.Union([Type.String(), Type.Null()], {
    description: 'where the candles come from; null for a bare tree',
  }),
  sample: Type.Boolean({ description: 'whether the candles are made ones' }),
  mirror: Type.String({ description: 'folder of the mirror' }),
  range: Type.Object({ from: Time, to: Time }, { additionalProperties: false }),
  warnings: Type.Array(Type.String()),
}

const seriesName = { symbol: Type.String(), interval: Type.String() }

/** `download --json` and `export --json`. */
export const RunSchema = Type.Object(
  {
    ...common,
    series: Type.Array(
      Type.Object(
        {
          ...seriesName,
          candles: Count,
          firstOpenTime: Time,
          lastOpenTime: Time,
          gaps: Count,
          missing: Type.Integer({ minimum: 0, description: 'candles that are not there in the gaps' }),
          restated: Type.Integer({ minimum: 0, description: 'held candles whose values the service changed' }),
          changes: Type.Array(
            Type.Object(
              { openTime: Type.Integer(), column: Type.String(), before: Type.String(), after: Type.String() },
              { additionalProperties: false },
            ),
            { description: 'values of restated candles before and after, the first 1,000' },
          ),
          windows: Type.Object(
            { total: Count, cached: Count, fetched: Count, revalidated: Count, retained: Count },
            { additionalProperties: false },
          ),
        },
        { additionalProperties: false },
      ),
    ),
    candles: Count,
    requests: Count,
    bytes: Type.Integer({ minimum: 0, description: 'bytes of bodies as they came over the wire' }),
    files: Type.Array(
      Type.Object(
        {
          path: Type.String(),
          format: Type.String(),
          series: Type.Array(Type.Object(seriesName, { additionalProperties: false })),
          candles: Count,
          bytes: Count,
          inexactDoubles: Count,
        },
        { additionalProperties: false },
      ),
    ),
  },
  { $id: 'klines-run', additionalProperties: false },
)

/** `--dry-run --json`. */
export const DryRunSchema = Type.Object(
  {
    ...common,
    dryRun: Type.Literal(true),
    files: Type.Array(Type.String(), { description: 'paths that would be written, - for stdout' }),
    series: Type.Array(
      Type.Object(
        {
          ...seriesName,
          windows: Type.Object(
            { total: Count, cached: Count, stale: Count, missing: Count },
            { additionalProperties: false },
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { $id: 'klines-dry-run', additionalProperties: false },
)

/** `serve --json`: printed once the server listens. */
export const ServeSchema = Type.Object(
  {
    url: Type.String({ description: 'address of the server' }),
    baseUrl: common.baseUrl,
    sample: common.sample,
    mirror: common.mirror,
    upstream: Type.Union([Type.String(), Type.Null()], {
      description: 'the service that missing windows are fetched from; null when none is asked',
    }),
    strict: Type.Boolean({ description: 'whether the greeting API takes only what the public instance takes' }),
    warnings: common.warnings,
  },
  { $id: 'klines-serve', additionalProperties: false },
)

const Paths = Type.Array(Type.String(), { description: 'relative to the mirror' })

/** `mirror verify --json`. */
export const VerifySchema = Type.Object(
  {
    mirror: common.mirror,
    files: Type.Integer({ minimum: 0, description: 'files that were read' }),
    windows: Count,
    candles: Type.Integer({ minimum: 0, description: 'candles of windows that can be read' }),
    bytes: Count,
    corrupt: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }, { additionalProperties: false }), {
      description: 'files that were not what they should be, before any repair',
    }),
    strays: Type.Array(Type.String(), { description: 'files that have no place in the tree' }),
    repaired: Type.Array(Type.String(), { description: 'corrupt files that --repair fetched again or removed' }),
    failed: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }, { additionalProperties: false }), {
      description: 'corrupt files that --repair could not mend',
    }),
    warnings: common.warnings,
  },
  { $id: 'klines-mirror-verify', additionalProperties: false },
)

const removal = {
  mirror: common.mirror,
  removed: Paths,
  bytes: Type.Integer({ minimum: 0, description: 'size of what was removed' }),
  outside: Type.Array(Type.String(), { description: 'files reached through a link, which stay' }),
}

/** `mirror prune --json`. */
export const PruneSchema = Type.Object(
  {
    dryRun: Type.Boolean({ description: 'whether they only would be removed' }),
    ...removal,
    warnings: common.warnings,
  },
  { $id: 'klines-mirror-prune', additionalProperties: false },
)

/** `mirror clear --json`; nothing is removed when the answer was no. */
export const ClearSchema = Type.Object(
  { ...removal, warnings: common.warnings },
  { $id: 'klines-mirror-clear', additionalProperties: false },
)

/** What any command prints with `--json` when it fails. */
export const ErrorSchema = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String(),
        message: Type.String(),
        exitCode: Type.Integer({ minimum: 1, maximum: 255 }),
        suggestions: Type.Array(Type.String()),
        data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      },
      { additionalProperties: false },
    ),
    warnings: Type.Array(Type.String()),
  },
  { $id: 'klines-error', additionalProperties: false },
)

export type VerifyObject = Omit<Type.Static<typeof VerifySchema>, 'warnings'>
export type PruneObject = Omit<Type.Static<typeof PruneSchema>, 'warnings'>
export type ClearObject = Omit<Type.Static<typeof ClearSchema>, 'warnings'>
export type ServeObject = Omit<Type.Static<typeof ServeSchema>, 'warnings'>
export type RunObject = Type.Static<typeof RunSchema>
export type DryRunObject = Type.Static<typeof DryRunSchema>
