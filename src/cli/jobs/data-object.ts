import { createReadStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { describeErrno } from '../../fs/errno.js'
import { cleanText } from '../../http/error-body.js'
import { KlinesError } from '../../klines/errors.js'

/** Most bytes of a data object. */
const MAX_DATA_BYTES = 1024 * 1024

/** The JSON object in a file (`-` for stdin), at most 1 MiB of UTF-8. Throws `bad_option` with the line of a fault. */
export async function readDataObject(file: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const name = file === '-' ? 'stdin' : file
  const invalid = (problem: string, cause?: unknown) => {
    const suggestions = [`--data takes a JSON object, such as {"email":"a@example.com","profile":{"age":30}}.`]
    return new KlinesError('bad_option', `The data in ${name} ${problem}.`, { cause, suggestions })
  }
  const bytes = await readBytes(file, name, signal)
  if (bytes.length > MAX_DATA_BYTES) throw invalid(`has more than ${MAX_DATA_BYTES} bytes`)
  const text = decode(bytes)
  if (text === undefined) throw invalid('is not UTF-8')
  if (text.trim() === '') throw invalid('is empty')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(`is not JSON: ${jsonFault(text, (cause as Error).message)}`, cause)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid(`is ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}`)
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
    const { code } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'there is no such file (ENOENT)' : describeErrno(cause)
    throw new KlinesError('bad_option', `Cannot read ${name}, which --data names: ${reason}.`, { cause })
  }
  return Buffer.concat(chunks)
}

/** The text without a byte order mark; undefined when the bytes are not UTF-8. */
function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The message of JSON.parse, with line and column (from 1) instead of its position. */
function jsonFault(text: string, message: string): string {
  const [, fault, position] = /^(.*?)(?: in JSON)? at position (\d+)/s.exec(message) ?? []
  if (fault === undefined) return cleanText(message, 160)
  const before = text.slice(0, Number(position)).split('\n')
  return `${fault} at line ${before.length}, column ${before[before.length - 1].length + 1}`
}
