import Type from 'typebox'
import { baseUrl, Count, count, Integer, list, mirror, object, report, seriesName, Text, Time, text } from './words.js'

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

/** `mirror --json`. */
export const MirrorSchema = report('klines-mirror', {
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
      firstOpenTime: Type.Optional(Integer),
      lastOpenTime: Type.Optional(Integer),
    }),
  ),
  others: list(
    object({
      root: text('its folder'),
      baseUrl,
      symbols: Count,
      series: Count,
      windows: Count,
      cachedBytes: Count,
      newest: Time,
    }),
    'the other mirrors in the cache folder',
  ),
})

export type MirrorObject = Type.Static<typeof MirrorSchema>
export type MirrorPublishObject = Type.Static<typeof MirrorPublishSchema>
