import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_URL } from '../../version.js'
import type { HttpTransport, WholeResponse } from './transport.js'

/** Folder of the synthetic sample data that ships with the package. */
export const SAMPLE_ROOT = fileURLToPath(new URL('fixtures/sample', PACKAGE_URL))

/** The files of the sample, read from disk, with what a static service that has them would answer. A window without a file is empty. */
export const SAMPLE_FILES: Pick<HttpTransport, 'get' | 'close'> = {
  async get(path, { headers = {}, signal }): Promise<WholeResponse> {
    signal.throwIfAborted()
    const date = new Date().toUTCString()
    const file = join(SAMPLE_ROOT, path)
    try {
      const [bytes, { mtime }] = await Promise.all([readFile(file), stat(file)])
      const modified = mtime.toUTCString()
      const status = Date.parse(modified) <= Date.parse(headers['if-modified-since'] ?? '') ? 304 : 200
      const body = status === 304 ? Buffer.alloc(0) : bytes
      return { status, headers: { date, 'last-modified': modified }, body, wireBytes: body.length }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      const isWindow = /\/\d{4}-\d{2}-\d{2}\.json$/.test(path)
      const body = Buffer.from(isWindow ? '[]' : '')
      return { status: isWindow ? 200 : 404, headers: { date }, body, wireBytes: body.length }
    }
  },
  async close() {},
}
