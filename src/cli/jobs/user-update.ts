import * as Flags from '@oclif/core/flags'
import type { UserUpdateFields } from '../../greeting-client/client.js'
import type { UserUpdateResult } from '../../greeting-client/schema.js'
import { cleanValue } from '../../http/error-body.js'
import { KlinesError } from '../../klines/errors.js'
import { readDataObject } from './data-object.js'

/** What is to be known of a user. */
export const userFlags = {
  email: Flags.string({ summary: 'E-mail address.', helpValue: 'ADDRESS', env: 'KLINES_EMAIL' }),
  name: Flags.string({ summary: 'Full name.', helpValue: 'TEXT', env: 'KLINES_NAME' }),
  age: Flags.string({ summary: 'Age, a number.', helpValue: 'YEARS', env: 'KLINES_AGE' }),
  notify: Flags.string({
    summary: 'How the user is to be notified, such as email, push or none.',
    helpValue: 'TYPE',
    env: 'KLINES_NOTIFY',
  }),
  data: Flags.string({
    summary: 'JSON object with email and profile, from a file or - for stdin; the other flags win over it.',
    helpValue: 'FILE',
    env: 'KLINES_DATA',
  }),
}

/** What the flags above parse to. */
export type UserFlags = { [name in keyof typeof userFlags]?: string | undefined }

/** The body of an update: the data, and over it what single flags say. Throws `bad_option`. */
export async function readUserFields(flags: UserFlags, signal: AbortSignal): Promise<UserUpdateFields> {
  const { email, name, age, notify, data } = flags
  if ([email, name, age, notify, data].every(value => value === undefined)) {
    throw new KlinesError('bad_option', 'There is nothing to update.', {
      suggestions: ['Expected one or more of --email, --name, --age, --notify and --data.'],
    })
  }
  const ofFlags = { ...(name !== undefined && { name }), ...(age !== undefined && { age: parseAge(age) }) }
  const given = data === undefined ? {} : await readDataObject(data, signal)
  return { ...given, ...(email !== undefined && { email }), ...withProfile(given.profile, ofFlags) }
}

/** What the server says of an update. Throws `rejected` when that is that it was not made. */
export function updateReport(answer: UserUpdateResult): { json: object; text: () => string } {
  const user = `user ${cleanValue(answer.id)}`
  if (answer.success) return { json: answer, text: () => `Updated ${user}, notification ${cleanValue(answer.notify)}.` }
  throw new KlinesError('rejected', `The server says that it did not update ${user}.`, { data: { answer } })
}

/** The profile with what flags say; as it is, whatever it is, when they say nothing. */
function withProfile(profile: unknown, ofFlags: object): UserUpdateFields {
  if (Object.keys(ofFlags).length === 0) return {}
  if (profile === undefined) return { profile: ofFlags }
  if (typeof profile === 'object' && profile !== null && !Array.isArray(profile)) {
    return { profile: { ...profile, ...ofFlags } }
  }
  throw new KlinesError('bad_option', 'The profile in --data is not an object, and --name or --age is to go into it.')
}

/** A decimal number; what a server takes for an age is for it to say. */
function parseAge(text: string): number {
  const age = /^\s*[+-]?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(age)) return age
  throw new KlinesError('bad_option', `--age is "${text}". Expected a number, such as 30.`)
}
