import { appendFile, open, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KlinesError } from '../../candles/errors.js'
import { parseInstant } from '../../candles/time-range.js'
import { type FollowRequest, openFollow } from '../../engine/follow.js'
import { checkTarget, outputError } from '../../engine/output-file.js'
import { parseRowFormat, withSeriesColumns } from '../../formats/row-format.js'
import { openTextExporter } from '../../formats/text.js'
import { makeFolder } from '../../fs/folders.js'
import type { OutputRequest } from '../../options.js'

/** Where candles go as they close, and how many at the most. */
export interface FollowOutputRequest extends FollowRequest, OutputRequest {
  readonly format: 'csv' | 'jsonl'
  readonly candles?: number | undefined
}

/**
 * Follows candles, and passes on their lines as they come: of each series the bytes of an export of its range. Ends after `candles` of
 * them; throws what `openFollow` throws, and `bad_option` for more than `most` series.
 */
export async function writeFollowed(
  request: FollowOutputRequest,
  write: (bytes: Uint8Array) => Promise<void>,
  most = Infinity,
): Promise<void> {
  const rowFormat = parseRowFormat(request, request.format)
  const { series, batches } = await openFollow(request, { most })
  const columns = series.length > 1 ? withSeriesColumns(rowFormat.columns) : rowFormat.columns
  const exporter = openTextExporter(request.format, { rowFormat: { ...rowFormat, columns }, emit: write })
  let left = request.candles ?? Infinity
  for await (const batch of batches) {
    const rows = batch.length > left ? batch.slice(-Infinity, batch.openTime(left)) : batch
    await exporter.write(rows)
    await exporter.flush()
    left -= rows.length
    if (left === 0) return
  }
}

/** How many of its last candles a file is compared by. */
const COMPARED = 10
/** Far more than so many lines. */
const TAIL_BYTES = 64 * 1024

/**
 * The same for a CSV file of one series, which grows in place by whole lines. One that is there goes on behind its last whole line: its
 * header and its last candles have to be those of the mirror. Throws `bad_output` for another file.
 */
export async function appendFollowed(request: FollowOutputRequest, path: string): Promise<void> {
  const { size = 0 } = (await checkTarget(path)) ?? {}
  const { columns } = parseRowFormat(request, 'csv')
  const head = `${columns.join(',')}\n`
  const { begin, end } = await readEnds(path, size, head.length)
  if (!head.startsWith(begin)) throw otherFile(path, `its first line is not ${head.trim()}`)
  const lines = end.split(/(?<=\n)/)
  let torn = end.endsWith('\n') ? '' : (lines.pop() ?? '')
  const compared = lines.filter(line => line !== head).slice(-COMPARED)
  const followed = { ...request }
  if (compared.length > 0) {
    const cell = compared[0].split(',')[columns.indexOf('open_time')] ?? ''
    // Of microseconds, the milliseconds.
    followed.from = parseInstant(cell.replace(/^(\d{13})000$/, '$1'), 0)
    followed.last = undefined
    if (request.candles) followed.candles = request.candles + compared.length
  }
  /** What the file has already of what comes. */
  let known = Buffer.from(begin === head ? head + compared.join('') : '')
  makeFolder(dirname(path))
  const append = async (bytes: Uint8Array) => {
    const length = Math.min(known.length, bytes.length)
    if (!known.subarray(0, length).equals(bytes.subarray(0, length)))
      throw otherFile(path, 'its last candles are not those of the mirror')
    known = known.subarray(length)
    if (length === bytes.length) return
    // What a killed run has left of a line goes, once the file is known to be ours.
    if (torn !== '') await truncate(path, size - Buffer.byteLength(torn))
    torn = ''
    await appendFile(path, bytes.subarray(length)).catch(error => Promise.reject(outputError(error, path)))
  }
  await writeFollowed(followed, append, 1)
}

/** The first and the last bytes of a file; none where there is no file yet. */
async function readEnds(path: string, size: number, headBytes: number) {
  if (size === 0) return { begin: '', end: '' }
  const file = await open(path, 'r').catch(error => Promise.reject(outputError(error, path)))
  try {
    const read = async (from: number, to: number) =>
      (await file.read(Buffer.alloc(to - from), 0, to - from, from)).buffer.toString()
    return { begin: await read(0, Math.min(size, headBytes)), end: await read(Math.max(0, size - TAIL_BYTES), size) }
  } finally {
    await file.close()
  }
}

function otherFile(path: string, reason: string): KlinesError {
  const message = `${path} does not go on with these candles: ${reason}.`
  const suggestions = ['Name another file, or follow with its series, columns and time format.']
  return new KlinesError('bad_output', message, { suggestions, data: { output: path } })
}
