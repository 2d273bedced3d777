import { type GreetingOptions, type UserUpdateFields, updateUser } from '../../greeting/client.js'
import type { UserUpdateResult } from '../../greeting/schemas.js'
import { KlinesError } from '../../klines/errors.js'
import { cleanValue } from '../../sources/error-body.js'
import type { UserFlags } from '../flags/greeting.js'
import type { Report } from '../reports/report.js'
import type { UsersUpdateObject } from '../reports/schema.js'

/** `users update`. Throws `bad_option`, `rejected` when the server refuses, and what the client throws. */
export async function runUserUpdate(
  id: string,
  flags: UserFlags,
  service: GreetingOptions,
): Promise<Report<UsersUpdateObject>> {
  return userUpdateReport(await updateUser(id, toFields(flags), { ...service, notify: flags.notify }))
}

/** The body of an update. */
function toFields({ email, name, age, notify }: UserFlags): UserUpdateFields {
  if ([email, name, age, notify].every(value => value === undefined)) {
    throw new KlinesError('bad_option', 'There is nothing to update.', {
      suggestions: ['Expected one or more of --email, --name, --age and --notify.'],
    })
  }
  const profile = { ...(name !== undefined && { name }), ...(age !== undefined && { age: parseAge(age) }) }
  return { ...(email !== undefined && { email }), ...(Object.keys(profile).length > 0 && { profile }) }
}

/** A decimal number; the server decides which ages it accepts. */
function parseAge(text: string): number {
  const age = /^\s*[+-]?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(age)) return age
  throw new KlinesError('bad_option', `--age is "${text}". Expected a number, such as 30.`)
}

/** `users update`. Throws `rejected` when the server answers that it did not update the user. */
function userUpdateReport(answer: UserUpdateResult): Report<UsersUpdateObject> {
  const user = `user ${cleanValue(answer.id)}`
  if (answer.success) return { json: answer, text: () => `Updated ${user}, notification ${cleanValue(answer.notify)}.` }
  throw new KlinesError('rejected', `The server says that it did not update ${user}.`, { data: { answer } })
}
