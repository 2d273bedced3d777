import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { damagedInput, inputError, openInput } from './errors.js'

const CHUNK_BYTES = 256 * 1024
/** A longer row is no candle: those of klines have some 300 characters. */
export const MAX_ROW_LENGTH = 64 * 1024
const GZIP = Buffer.of(0x1f, 0x8b)

/** The text of a file in pieces, unpacked if it is compressed with gzip. Throws `bad_input` and `damaged_input`. */
export async function* readText(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    const isGzip = (await readStart(file, GZIP.length)).equals(GZIP)
    const bytes = createReadStream(file, { highWaterMark: CHUNK_BYTES })
    const gunzip = isGzip ? createGunzip({ chunkSize: CHUNK_BYTES }) : undefined
    // `pipeline` destroys both when one fails, or when this loop is left.
    const stream = gunzip ? pipeline(bytes, gunzip, () => {}) : bytes
    for await (const chunk of stream) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
    if (gunzip) await checkRest(file, gunzip.bytesWritten)
  } catch (error) {
    throw inputError(file, error)
  }
}

/** zlib ends at zeros, with which some programs fill a file. Throws for anything else after them. */
async function checkRest(file: string, start: number): Promise<void> {
  for await (const chunk of createReadStream(file, { start, highWaterMark: CHUNK_BYTES })) {
    if (Buffer.alloc(chunk.length).equals(chunk)) continue
    throw damagedInput({ file }, `its gzip data ends at byte ${start}, expected no further bytes than zeros`)
  }
}

/** The lines of a file without their ends, those of a piece at once. */
export async function* readLines(file: string): AsyncGenerator<string[]> {
  let rest = ''
  for await (const text of readText(file)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_ROW_LENGTH) throw damagedInput({ file }, 'a line is too long for a candle')
    yield lines
  }
  if (rest !== '') yield [rest]
}

async function readStart(file: string, size: number): Promise<Buffer> {
  const handle = await openInput(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
