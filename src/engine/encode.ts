import type { SeriesLabel } from '../candles/series.js'
import type { ExporterOptions } from '../formats/exporter.js'
import { type RowFormat, withSeriesColumns } from '../formats/row-format.js'
import { openExporter } from '../formats/text.js'
import { Mirror } from '../mirror/mirror.js'
import type { Compression, FileFormat, Format } from '../options.js'
import { Fingerprinter, type SeriesFingerprint } from '../rows/fingerprint.js'
import { type KlineBatch, lastRows } from '../rows/kline-batch.js'
import { VERSION } from '../version.js'
import { type FilePlace, openFile, withPlaces } from './output-file.js'
import { compressed, type Output, StreamOutput } from './output-stream.js'
import { readPlan } from './read.js'
import { type SeriesCount, Tally } from './report.js'
import { mirrorRun, type Plan, quiet, type Run, type SeriesPlan } from './run.js'
import { countThreads, shareTasks } from './threads.js'

export interface Encoding {
  readonly range: Plan['range']
  readonly source: string | undefined
  readonly rowFormat: RowFormat
  readonly partial: boolean | undefined
  /** The most rows of each series: the first ones, or the last ones. Default: all. */
  readonly limit?: number | undefined
  readonly tail?: number | undefined
  /** Whether fingerprints are computed, and whether files name them. */
  readonly fingerprint?: 'computed' | 'named' | undefined
}

interface TaskOutput extends FileFormat {
  readonly path: string
  /** Undefined for a stream. */
  readonly place: FilePlace | undefined
}

/** What a thread does at a time: it reads the windows of some series in order, and writes their rows to one output. Plain data. */
export interface EncodeTask {
  readonly series: readonly SeriesPlan[]
  readonly output: TaskOutput
}

export interface EncodedTask {
  /** Undefined for an output without rows. */
  readonly finished: { readonly file: WrittenFile; readonly place: FilePlace | undefined } | undefined
  readonly fingerprints: readonly SeriesFingerprint[]
  /** Of its series, from a worker. */
  readonly counts?: readonly SeriesCount[]
}

type OpenStream = (path: string) => Output

export interface WrittenFile {
  /** `-` for stdout and for a stream. */
  readonly path: string
  readonly format: Format
  /** Of the pages of a Parquet file, or `gzip` for a name that ends in .gz. */
  readonly compression: Compression
  readonly series: readonly SeriesLabel[]
  readonly candles: number
  /** Decimals whose double has other digits. */
  readonly inexactDoubles: number
  readonly bytes: number
  /** Whether a file had these bytes already; undefined of a stream and of a part of a lake. */
  readonly unchanged?: boolean | undefined
}

/** Writes the outputs of tasks from the mirror, several tasks at once, and has `commit` put them in their places; of others nothing is left. */
export async function encodeTasks<T>(
  run: Run,
  tasks: readonly EncodeTask[],
  encoding: Encoding,
  { tally, threads, open }: { tally: Tally; threads: number | undefined; open?: OpenStream },
  commit: (tasks: EncodedTask[]) => Promise<T>,
): Promise<T> {
  const places = tasks.flatMap(({ output }) => output.place ?? [])
  return withPlaces(places, async () => {
    const encoded = await shareTasks<EncodeTask, EncodedTask>({
      ...{ kind: 'encode', data: { root: run.mirror.root, encoding }, tasks, signal: run.signal },
      threads: countThreads(tasks.length, tally.total, { threads }),
      work: task => encodeTask(quiet(run), task, encoding, tally, open),
      done: ({ series }, { counts = [] }) => tally.addCounts(series, counts),
    })
    tally.checkWindows(true)
    return commit(encoded)
  })
}

export function encodeInWorker({ root, encoding }: { root: string; encoding: Encoding }) {
  const run = mirrorRun(new Mirror(root), { now: Date.now, signal: new AbortController().signal, warn: () => {} })
  return async (task: EncodeTask): Promise<EncodedTask> => {
    const tally = new Tally({ range: encoding.range, series: task.series, gone: [] }, run)
    return { ...(await encodeTask(run, task, encoding, tally)), counts: tally.counts }
  }
}

/** After a window that could not be had, the others are only counted, and nothing is left of the output. */
async function encodeTask(
  run: Run,
  { series, output }: EncodeTask,
  encoding: Encoding,
  tally: Tally,
  open?: OpenStream,
): Promise<EncodedTask> {
  const { partial, limit = Infinity, tail, fingerprint } = encoding
  const fingerprints: SeriesFingerprint[] = []
  const labels = series.map(({ label }) => label)
  let writer: Awaited<ReturnType<typeof openWriter>> | undefined
  let finished: EncodedTask['finished']
  try {
    for await (const [{ label, resampleTo }, candles] of readPlan(run, tally, { partial, series })) {
      const fingerprinter = fingerprint && new Fingerprinter(label)
      let left = limit
      // Candles as they are were cut to the last ones before: which longer ones are whole is known at the end.
      const isCut = tail === undefined || resampleTo === undefined
      for await (const batch of isCut ? candles : lastRows(candles, tail)) {
        const rows = batch.length > left ? batch.rows(0, left) : batch
        left -= rows.length
        if (rows.length === 0) continue
        fingerprinter?.add(rows)
        writer ??= await openWriter(output, labels, encoding, fingerprints, open)
        await writer.write(rows)
      }
      const ofSeries = fingerprinter?.finish()
      if (ofSeries) fingerprints.push(ofSeries)
    }
    if (!tally.hasFailed) finished = await writer?.finish()
    return { finished, fingerprints }
  } finally {
    if (!finished) await writer?.discard()
  }
}

/** Opens an output for rows: series by series, each in order of time. */
async function openWriter(
  { path, place, format, gzip }: TaskOutput,
  series: readonly SeriesLabel[],
  encoding: Encoding,
  fingerprints: readonly SeriesFingerprint[],
  open: OpenStream = StreamOutput.to,
) {
  const { range, limit, tail, source = 'unknown', rowFormat, fingerprint } = encoding
  const opened: Output = place ? await openFile(place) : open(path)
  const output = gzip ? compressed(opened) : opened
  const stats = { inexactDoubles: 0 }
  let candles = 0
  /** The last chunk, which is written while the next one is made: never more than two are in memory. */
  let writing = Promise.resolve()
  const join = (name: keyof SeriesLabel) => [...new Set(series.map(label => label[name]))].join(',')
  const names = { symbol: join('symbol'), interval: join('interval') }
  const metadata = { ...names, range: range.text, limit, tail, source, version: VERSION }
  const { columns } = rowFormat
  const options: ExporterOptions = {
    rowFormat: { ...rowFormat, columns: series.length > 1 ? withSeriesColumns(columns) : columns },
    metadata,
    stats,
    fingerprints: () => (fingerprint === 'named' ? fingerprints : undefined),
    emit: async bytes => {
      await writing
      writing = output.write(bytes)
      // The next chunk or `finish` reports a failure.
      writing.catch(() => {})
    },
  }
  const exporter = await (output.openExporter?.(options) ?? openExporter(format, options))
  return {
    async write(batch: KlineBatch): Promise<void> {
      candles += batch.length
      await exporter.write(batch)
    },
    async finish(): Promise<EncodedTask['finished']> {
      await exporter.end()
      await writing
      // What follows on stdout, such as a prompt, begins on a line of its own. A file is a window file, byte for byte.
      if (path === '-' && format === 'json') await output.write(Buffer.from('\n'))
      await output.finish()
      const compression = gzip ? 'gzip' : rowFormat.compression
      return { file: { path, format, compression, series, candles, ...stats, bytes: output.bytes }, place }
    },
    discard: () => output.discard(),
  }
}
