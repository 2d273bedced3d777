import { type FileHandle, open } from 'node:fs/promises'
import { KlinesError } from '../../candles/errors.js'
import { plural } from '../../candles/text.js'
import { type FollowRequest, openFollow } from '../../engine/follow.js'
import { outputError } from '../../engine/output-file.js'
import { parseRowFormat, type RowFormat, withSeriesColumns } from '../../formats/row-format.js'
import { openTextExporter } from '../../formats/text.js'
import type { OutputRequest, TimeFormat } from '../../options.js'

/** Where candles go as they close, and how many at the most. */
export interface FollowOutputRequest extends FollowRequest, OutputRequest {
  readonly format: 'csv' | 'jsonl'
  readonly candles?: number | undefined
}

type Write = (bytes: Uint8Array) => Promise<void>

/** Candles of several series in one file have a column for each of its parts, and no order between them. */
const MOST_OF_FILE = 1

/**
 * Follows candles, and passes on their lines as they come: of each series the bytes of an export of its range. Ends after `candles` of
 * them; throws what `openFollow` throws, and `bad_output` for more than `mostSeries`.
 */
export async function writeFollowed(request: FollowOutputRequest, write: Write, mostSeries = Infinity): Promise<void> {
  const rowFormat = parseRowFormat(request, request.format)
  const { series, batches } = await openFollow(request)
  if (series.length > mostSeries) {
    await batches.return(undefined)
    throw new KlinesError('bad_output', `These are ${series.length} series. A file that grows has one.`)
  }
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
  const rowFormat = parseRowFormat(request, 'csv')
  const file = await open(path, 'a+').catch(error => Promise.reject(outputError(error, path)))
  try {
    const head = `${rowFormat.columns.join(',')}\n`
    const { size, begin, lines, torn } = await readEnds(file, head.length)
    if (!(size < head.length ? head.startsWith(begin) : begin === head))
      throw otherFile(path, `its first line is not ${head.trim()}`)
    const compared = lines.filter(line => `${line}\n` !== head).slice(-COMPARED)
    const range = compared.length > 0 ? { from: timeOf(compared[0], rowFormat, path), last: undefined } : {}
    // What a killed run has left of a line goes.
    if (torn !== '') await file.truncate(size - Buffer.byteLength(torn))
    /** What the file has already of what comes. */
    let known = Buffer.from(size < head.length ? '' : head + compared.map(line => `${line}\n`).join(''))
    const append = async (bytes: Uint8Array) => {
      const length = Math.min(known.length, bytes.length)
      if (!known.subarray(0, length).equals(bytes.subarray(0, length)))
        throw otherFile(path, `its last ${plural(compared.length, 'candle')} are not those of the mirror`)
      known = known.subarray(length)
      await file.appendFile(bytes.subarray(length)).catch(error => Promise.reject(outputError(error, path)))
    }
    await writeFollowed({ ...request, ...range }, append, MOST_OF_FILE)
  } finally {
    await file.close()
  }
}

/** The first bytes of a file, the whole lines of its end, and what follows the last one. */
async function readEnds(file: FileHandle, headBytes: number) {
  const { size } = await file.stat()
  const read = async (from: number, to: number) =>
    (await file.read(Buffer.alloc(to - from), 0, to - from, from)).buffer.toString()
  const start = Math.max(0, size - TAIL_BYTES)
  const lines = (await read(start, size)).split('\n')
  const torn = lines.pop() ?? ''
  // The first one may be a part.
  return { size, begin: await read(0, Math.min(size, headBytes)), lines: start > 0 ? lines.slice(1) : lines, torn }
}

/** When the candle of a line opens, ms UTC. */
function timeOf(line: string, { columns, timeFormat }: RowFormat, path: string): number {
  const cell = line.split(',')[columns.indexOf('open_time')] ?? ''
  const parse: Record<TimeFormat, (text: string) => number> = {
    ms: Number,
    s: text => Number(text) * 1000,
    us: text => Number(text) / 1000,
    iso: Date.parse,
  }
  const time = parse[timeFormat](cell)
  if (cell === '' || !Number.isSafeInteger(time)) throw otherFile(path, `no candle opens at "${cell.slice(0, 40)}"`)
  return time
}

function otherFile(path: string, reason: string): KlinesError {
  const message = `${path} does not go on with these candles: ${reason}.`
  const suggestions = ['Name another file, or follow with the series, columns and time format that this one has.']
  return new KlinesError('bad_output', message, { suggestions, data: { output: path } })
}
