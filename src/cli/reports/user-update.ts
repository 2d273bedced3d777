import type { UserUpdateResult } from '../../greeting-client/schema.js'
import { cleanValue } from '../../http/error-body.js'
import { KlinesError } from '../../klines/errors.js'
import type { Report } from './report.js'

/** `users update`. Throws `rejected` when the server answers that it did not update the user. */
export function userUpdateReport(answer: UserUpdateResult): Report {
  const user = `user ${cleanValue(answer.id)}`
  if (answer.success) return { json: answer, text: () => `Updated ${user}, notification ${cleanValue(answer.notify)}.` }
  throw new KlinesError('rejected', `The server says that it did not update ${user}.`, { data: { answer } })
}
