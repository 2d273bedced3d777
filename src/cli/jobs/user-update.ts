import type { GreetingClient, UserUpdateFields } from '../../greeting-client/client.js'
import { KlinesError } from '../../klines/errors.js'
import type { UserFlags } from '../flags/greeting.js'
import type { Report } from '../reports/report.js'
import { userUpdateReport } from '../reports/user-update.js'
import { readDataObject } from './data-object.js'

/** `users update`. Throws `bad_option`, `rejected` when the server refuses, and what the client throws. */
export async function runUserUpdate(
  client: GreetingClient,
  id: string,
  flags: UserFlags,
  signal: AbortSignal,
): Promise<Report> {
  const fields = await readUserFields(flags, signal)
  return userUpdateReport(await client.updateUser(id, fields, flags.notify, signal))
}

/** The body of an update: the data of `--data`, over which single flags win. */
async function readUserFields(flags: UserFlags, signal: AbortSignal): Promise<UserUpdateFields> {
  const { email, name, age, notify, data } = flags
  if ([email, name, age, notify, data].every(value => value === undefined)) {
    throw new KlinesError('bad_option', 'There is nothing to update.', {
      suggestions: ['Expected one or more of --email, --name, --age, --notify and --data.'],
    })
  }
  const profile = { ...(name !== undefined && { name }), ...(age !== undefined && { age: parseAge(age) }) }
  const object = data === undefined ? {} : await readDataObject(data, signal)
  return { ...object, ...(email !== undefined && { email }), ...mergeProfile(object.profile, profile) }
}

/** The profile of `--data` with the values of flags; without flags it is left as it is, whatever it is. */
function mergeProfile(profile: unknown, flags: object): UserUpdateFields {
  if (Object.keys(flags).length === 0) return {}
  if (profile === undefined) return { profile: flags }
  if (typeof profile === 'object' && profile !== null && !Array.isArray(profile)) {
    return { profile: { ...profile, ...flags } }
  }
  throw new KlinesError('bad_option', 'The profile in --data is not an object, and --name or --age is to go into it.')
}

/** A decimal number; the server decides which ages it accepts. */
function parseAge(text: string): number {
  const age = /^\s*[+-]?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(age)) return age
  throw new KlinesError('bad_option', `--age is "${text}". Expected a number, such as 30.`)
}
