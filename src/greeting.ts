/** The client of the greeting API: update a user, stream tokens, read the OpenAPI documents. */

export { GREETING_BASE_URL } from './candles/base-url.js'
export { type ErrorCode, type ErrorData, isKlinesError, KlinesError } from './candles/errors.js'
export {
  type GreetingOptions,
  getSpec,
  type OpenApiDocument,
  streamTokens,
  type UserUpdateFields,
  updateUser,
} from './greeting/client.js'
export type { Token, UserUpdate, UserUpdateResult } from './greeting/schemas.js'
