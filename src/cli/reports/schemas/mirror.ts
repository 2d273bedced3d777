import Type from 'typebox'
import {
  baseUrl,
  Count,
  count,
  flag,
  Integer,
  integer,
  list,
  mirror,
  nullable,
  object,
  report,
  seriesName,
  Text,
  Time,
  text,
} from './words.js'

const faultyFile = object({ path: Text, reason: Text })

/** `mirror verify --json`. */
export const MirrorVerifySchema = report('klines-mirror-verify', {
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
export const MirrorPruneSchema = report('klines-mirror-prune', {
  dryRun: flag('whether they only would be removed'),
  ...removal,
})

/** `mirror clear --json`; nothing is removed when the answer was no. */
export const MirrorClearSchema = report('klines-mirror-clear', removal)

/** `mirror publish --json`. */
export const MirrorPublishSchema = report('klines-mirror-publish', {
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
export const MirrorChangesSchema = report('klines-mirror-changes', {
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

/** `mirror path --json`. */
export const MirrorPathSchema = report('klines-mirror-path', { mirror })

/** `mirror list --json`. */
export const MirrorListSchema = report('klines-mirror-list', {
  mirrors: list(
    object({
      root: text('its folder'),
      baseUrl,
      symbols: Count,
      series: Count,
      windows: Count,
      cachedBytes: Count,
      newest: Time,
      isDefault: flag('whether a command with the same flags uses it'),
    }),
  ),
  default: text('folder that a command with the same flags uses, which may be missing'),
})

/** `mirror status --json`. */
export const MirrorStatusSchema = report('klines-mirror-status', {
  mirror,
  baseUrl,
  windows: Count,
  cachedBytes: Count,
  series: list(
    object({
      ...seriesName,
      windows: Count,
      empty: count('windows without candles'),
      cachedBytes: Count,
      firstStartDate: Type.Optional(text('of the first window with candles; missing without one')),
      lastStartDate: Type.Optional(Text),
      firstOpenTime: Type.Optional(Integer),
      lastOpenTime: Type.Optional(Integer),
    }),
  ),
})

export type MirrorVerifyObject = Type.Static<typeof MirrorVerifySchema>
export type MirrorPruneObject = Type.Static<typeof MirrorPruneSchema>
export type MirrorClearObject = Type.Static<typeof MirrorClearSchema>
export type MirrorPublishObject = Type.Static<typeof MirrorPublishSchema>
export type MirrorChangesObject = Type.Static<typeof MirrorChangesSchema>
export type MirrorPathObject = Type.Static<typeof MirrorPathSchema>
export type MirrorListObject = Type.Static<typeof MirrorListSchema>
export type MirrorStatusObject = Type.Static<typeof MirrorStatusSchema>
