import { crc32 } from 'node:zlib'
import { fromBufferPromise } from 'yauzl'
import { FetchError } from '../fetch-error.js'

/** A month of 1m candles has 7 MB. */
const MAX_CSV_BYTES = 32 * 1024 * 1024

/**
 * The file `name` of a zip, which must have no other one, as chunks of bytes. Throws an invalid `FetchError` for any other zip, also after
 * the last chunk: yauzl checks names, sizes and the deflate stream, but not the CRC.
 */
export async function* unzip(zip: Buffer, name: string): AsyncGenerator<Buffer> {
  const refuse = (reason: string, cause?: unknown) => new FetchError('invalid', `the zip ${reason}`, { cause })
  try {
    const file = await fromBufferPromise(zip, { lazyEntries: true })
    if (file.entryCount !== 1) throw refuse(`has ${file.entryCount} files`)
    for await (const entry of file.eachEntry()) {
      if (entry.fileName !== name) throw refuse(`has another file than ${name}`)
      if (entry.uncompressedSize > MAX_CSV_BYTES) throw refuse(`unpacks to ${entry.uncompressedSize} bytes`)
      let crc = 0
      for await (const chunk of await file.openReadStreamPromise(entry)) {
        crc = crc32(chunk, crc)
        yield chunk
      }
      if (crc !== entry.crc32) throw refuse('is damaged: its CRC is wrong')
    }
  } catch (error) {
    throw error instanceof FetchError ? error : refuse(`is damaged: ${(error as Error).message}`, error)
  }
}
