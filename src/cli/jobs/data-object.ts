import { createReadStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { describeErrno, errnoCode } from '../../fs/errno.js'
import { KlinesError } from '../../klines/errors.js'
import { parseJsonObject } from '../json-object.js'

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
