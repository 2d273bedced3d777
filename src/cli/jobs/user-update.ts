import { createReadStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { describeErrno, errnoCode } from '../../fs/errno.js'
import type { GreetingClient, UserUpdateFields } from '../../greeting-client/client.js'
import type { UserUpdateResult } from '../../greeting-client/schema.js'
import { cleanValue } from '../../http/error-body.js'
import { KlinesError } from '../../klines/errors.js'
import { isObject } from '../../klines/json.js'
import type { UserFlags } from '../flags/greeting.js'
import { parseJsonObject } from '../json-object.js'
import type { Report } from '../reports/report.js'
import type { UsersUpdateObject } from '../reports/schema.js'

/** `users update`. Throws `bad_option`, `rejected` when the server refuses, and what the client throws. */
export async function runUserUpdate(
  client: GreetingClient,
  id: string,
  flags: UserFlags,
  signal: AbortSignal,
): Promise<Report<UsersUpdateObject>> {
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
  if (isObject(profile)) {
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

/** Most bytes of a data object. */
const MAX_DATA_BYTES = 1024 * 1024

/** The JSON object in a file (`-` for stdin), at most 1 MiB of UTF-8. Throws `bad_option` with the line of a fault. */
async function readDataObject(file: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const name = file === '-' ? 'stdin' : file
  const invalid = (problem: string, cause?: unknown) => {
    const suggestions = [`--data takes a JSON object, such as {"email":"a@example.com","profile":{"age":30}}.`]
    return new KlinesError('bad_option', `The data in ${name} ${problem}.`, { cause, suggestions })
  }
  const bytes = await readBytes(file, name, signal)
  if (bytes.length > MAX_DATA_BYTES) throw invalid(`has more than ${MAX_DATA_BYTES} bytes`)
  const parsed = parseJsonObject(bytes)
  if ('problem' in parsed) throw invalid(parsed.problem, parsed.cause)
  return parsed.object
}

/** All bytes of the file, or a few more than are allowed. */
async function readBytes(file: string, name: string, signal: AbortSignal): Promise<Buffer> {
  if (file === '') throw new KlinesError('bad_option', '--data is empty. Expected the name of a file, or - for stdin.')
  const stream: Readable = addAbortSignal(signal, file === '-' ? process.stdin : createReadStream(file))
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream) {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_DATA_BYTES) break
    }
  } catch (cause) {
    signal.throwIfAborted()
    const code = errnoCode(cause)
    const reason = code === 'ENOENT' ? 'there is no such file (ENOENT)' : describeErrno(cause)
    throw new KlinesError('bad_option', `Cannot read ${name}, which --data names: ${reason}.`, { cause })
  }
  return Buffer.concat(chunks)
}

/** `users update`. Throws `rejected` when the server answers that it did not update the user. */
function userUpdateReport(answer: UserUpdateResult): Report<UsersUpdateObject> {
  const user = `user ${cleanValue(answer.id)}`
  if (answer.success) return { json: answer, text: () => `Updated ${user}, notification ${cleanValue(answer.notify)}.` }
  throw new KlinesError('rejected', `The server says that it did not update ${user}.`, { data: { answer } })
}
