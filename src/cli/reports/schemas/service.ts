import Type from 'typebox'
import {
  baseUrl,
  Count,
  count,
  flag,
  list,
  mirror,
  nullable,
  object,
  oneOf,
  report,
  sample,
  Text,
  text,
} from './words.js'

/** `serve --json`: printed once the server listens. */
export const ServeSchema = report('klines-serve', {
  url: text('address of the server'),
  baseUrl,
  sample,
  mirror,
  upstream: nullable(Text, 'the service that missing windows are fetched from; null without one'),
})

const catalogue = { listsFrom: oneOf(['service', 'mirror'], 'mirror: the service could not be reached'), mirror }

/** `symbols --json`. */
export const SymbolsSchema = report('klines-symbols', {
  ...catalogue,
  symbols: list(object({ symbol: Text, mirrored: object({ intervals: list(Text), windows: Count }) })),
})

const windowLength = text('such as 7 days')

/** `intervals --json`. */
export const IntervalsSchema = report('klines-intervals', {
  ...catalogue,
  intervals: list(
    object({
      interval: Text,
      windowLength,
      firstStartDate: nullable(Text),
      lastStartDate: nullable(Text),
      windows: count('start dates of the list'),
      mirrored: count('cached windows of all symbols'),
    }),
  ),
})

/** `start-dates --json`. */
export const StartDatesSchema = report('klines-start-dates', {
  ...catalogue,
  interval: Text,
  windowLength,
  startDates: list(
    object({
      startDate: Text,
      endDate: text('which is not part of the window'),
      mirrored: list(Text, 'symbols whose window is cached'),
    }),
  ),
})

/** `users update --json`: the answer of the server, which may say more. */
export const UsersUpdateSchema = Type.Object(
  { success: flag('never false: a refusal is an error'), id: Text, notify: Text, warnings: list(Text) },
  { $id: 'klines-users-update' },
)

/** `streams tokens --json`: the tokens of the server, which may say more. */
export const StreamsTokensSchema = Type.Array(Type.Object({ message: Text }), { $id: 'klines-streams-tokens' })

/** `openapi --json`: the document of the server. */
export const OpenapiSchema = Type.Object({ openapi: text('version of the format') }, { $id: 'klines-openapi' })

export type UsersUpdateObject = Type.Static<typeof UsersUpdateSchema>
export type ServeObject = Type.Static<typeof ServeSchema>
export type SymbolsObject = Type.Static<typeof SymbolsSchema>
export type IntervalsObject = Type.Static<typeof IntervalsSchema>
export type StartDatesObject = Type.Static<typeof StartDatesSchema>
