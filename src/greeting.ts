/** The client of the greeting API: update a user, stream tokens, read the OpenAPI documents. */
export {
  type GreetingClient,
  type GreetingOptions,
  openGreetingClient,
  type UserUpdateFields,
} from './greeting-client/client.js'
export type { OpenApiDocument } from './greeting-client/parse.js'
export type { Token, UserUpdate, UserUpdateResult } from './greeting-client/schema.js'
export { GREETING_BASE_URL } from './http/base-url.js'
export { type ErrorCode, type ErrorData, isKlinesError, KlinesError } from './klines/errors.js'
