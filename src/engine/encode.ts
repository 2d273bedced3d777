import type { SeriesLabel } from '../candles/series.js'
import type { Exporter, ExporterOptions } from '../formats/exporter.js'
import { type RowFormat, withSeriesColumns } from '../formats/row-format.js'
import { openExporter } from '../formats/text.js'
import { incomplete } from '../mirror/errors.js'
import { Mirror } from '../mirror/mirror.js'
import type { Compression, FileFormat, Format } from '../options.js'
import { Fingerprinter, type SeriesFingerprint } from '../rows/fingerprint.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { VERSION } from '../version.js'
import { discardFile, type FilePlace, OutputFile } from './output-file.js'
import { GzipOutput, type Output, StreamOutput } from './output-stream.js'
import { readPlan } from './read.js'
import { Tally } from './report.js'
import type { Run } from './run.js'
import { countThreads, shareTasks } from './threads.js'
import type { Plan, SeriesPlan } from './windows.js'

/** How all tasks of a run are encoded. Plain data. */
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
  /** A path, or `-` for stdout and for a stream. */
  readonly path: string
  /** Its rows open before this time, ms UTC, and not before that of the output before it. */
  readonly toTime: number
  /** Where its file is written; undefined for a stream. */
  readonly place: FilePlace | undefined
}

/**
 * What a thread does at a time: the windows of some series, which are read in order, and the outputs that their rows go to, one after
 * the other. An export has one output with all rows of its series, a lake the parts of one series. Plain data.
 */
export interface EncodeTask {
  readonly series: readonly SeriesPlan[]
  readonly outputs: readonly TaskOutput[]
}

export interface EncodedTask {
  /** Without those that have no rows. */
  readonly outputs: readonly { readonly file: WrittenFile; readonly place: FilePlace | undefined }[]
  /** Of its series with rows, if they are wanted. */
  readonly fingerprints: readonly SeriesFingerprint[]
}

export interface WrittenFile {
  /** A path, or `-` for stdout and for a stream. */
  readonly path: string
  readonly format: Format
  /** Of the pages of a Parquet file, or `gzip` for a name that ends in .gz. */
  readonly compression: Compression
  readonly series: readonly SeriesLabel[]
  readonly candles: number
  /** Decimals whose double has other digits. */
  readonly inexactDoubles: number
  readonly bytes: number
}

/** Opens an output without a place. */
type OpenStream = (path: string) => Output | Promise<Output>

/**
 * Writes the outputs of tasks from the mirror, several tasks at once, and has `commit` put them in their places; of others nothing is
 * left. Throws what the format and the outputs throw, and `incomplete`.
 */
export async function encodeTasks<T>(
  { mirror, signal }: Run,
  tasks: readonly EncodeTask[],
  encoding: Encoding,
  { threads, open }: { threads: number | undefined; open?: OpenStream },
  commit: (tasks: EncodedTask[]) => Promise<T>,
): Promise<T> {
  const windows = tasks.flatMap(({ series }) => series).reduce((sum, { windows }) => sum + windows.length, 0)
  const places = tasks.flatMap(({ outputs }) => outputs.flatMap(({ place }) => place ?? []))
  try {
    const encoded = await shareTasks<EncodeTask, EncodedTask>({
      ...{ kind: 'encode', data: { root: mirror.root, encoding }, tasks, signal },
      threads: countThreads(tasks.length, windows, { threads }),
      work: task => encodeTask(mirror, signal, task, encoding, open),
    })
    return await commit(encoded)
  } finally {
    // The last one first: an earlier one may have made the folder above it.
    for (const place of places.toReversed()) await discardFile(place)
  }
}

/** What does the tasks of a worker. The main thread has read the mirror before, and has warned about it. */
export function encodeInWorker({ root, encoding }: { root: string; encoding: Encoding }) {
  const mirror = new Mirror(root)
  const { signal } = new AbortController()
  return (task: EncodeTask): Promise<EncodedTask> => encodeTask(mirror, signal, task, encoding)
}

/** Reads the windows of a task and writes its outputs. When it throws, nothing is left of them. */
async function encodeTask(
  mirror: Mirror,
  signal: AbortSignal,
  { series, outputs }: EncodeTask,
  encoding: Encoding,
  open?: OpenStream,
): Promise<EncodedTask> {
  const { range, partial, limit = Number.POSITIVE_INFINITY, tail, fingerprint } = encoding
  const run = { mirror, signal, source: undefined, emit: () => {} }
  const tally = new Tally({ range, series, gone: [] }, run)
  const fingerprints: SeriesFingerprint[] = []
  const labels = series.map(({ label }) => label)
  const writers = outputs.map(output => new OutputWriter(output, labels, encoding, fingerprints, open))
  let current = 0
  const write = async (batch: KlineBatch) => {
    for (let rest = batch; rest.length > 0; ) {
      const { toTime } = outputs[current]
      if (rest.openTime(0) >= toTime) await writers[current++].finish()
      else {
        await writers[current].write(rest.slice(-Infinity, toTime))
        rest = rest.slice(toTime, Infinity)
      }
    }
  }
  let isDone = false
  try {
    for await (const [{ label, resampleTo }, candles] of readPlan(run, tally, { partial })) {
      const fingerprinter = fingerprint && new Fingerprinter(label)
      let left = limit
      // Candles as they are were cut to the last ones before: which longer ones are whole is known at the end.
      const isCut = tail === undefined || resampleTo === undefined
      for await (const batch of isCut ? candles : lastRows(candles, tail)) {
        const rows = batch.length > left ? batch.rows(0, left) : batch
        left -= rows.length
        if (fingerprinter) fingerprinter.add(rows)
        await write(rows)
      }
      if (fingerprinter) fingerprints.push(...[fingerprinter.finish() ?? []].flat())
    }
    // Windows that were there before may be missing now, when somebody removed files.
    if (tally.failures.length > 0) throw incomplete(tally.failures, tally.total, { offline: true, forExport: true })
    for (const writer of writers.slice(current)) await writer.finish()
    isDone = true
    return { outputs: writers.flatMap(({ finished }) => finished ?? []), fingerprints }
  } finally {
    if (!isDone) for (const writer of writers) await writer.discard()
  }
}

/** The last rows of batches that have memory of their own. */
async function* lastRows(batches: AsyncIterable<KlineBatch>, count: number): AsyncGenerator<KlineBatch> {
  const last: KlineBatch[] = []
  let rows = 0
  for await (const batch of batches) {
    last.push(batch)
    rows += batch.length
    while (rows - last[0].length >= count) rows -= (last.shift() as KlineBatch).length
  }
  for (const [index, batch] of last.entries())
    yield index === 0 ? batch.rows(Math.max(0, rows - count), batch.length) : batch
}

/** Encodes the rows of one output. Nothing is opened before the first row. */
class OutputWriter {
  finished: EncodedTask['outputs'][number] | undefined
  private readonly stats = { inexactDoubles: 0 }
  private candles = 0
  private exporter: Exporter | undefined
  private output: Output | undefined
  /** The last chunk, which is written while the next one is made: never more than two are in memory. */
  private writing = Promise.resolve()

  constructor(
    private readonly spec: TaskOutput,
    private readonly series: readonly SeriesLabel[],
    private readonly encoding: Encoding,
    private readonly fingerprints: readonly SeriesFingerprint[],
    private readonly open: OpenStream = StreamOutput.to,
  ) {}

  /** Adds rows: series by series, each in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    this.exporter ??= await this.openExporter()
    this.candles += batch.length
    await this.exporter.write(batch)
  }

  async finish(): Promise<void> {
    const { spec, exporter, output, candles, stats } = this
    if (exporter === undefined || output === undefined) return
    await exporter.end()
    await this.writing
    const { path, format, gzip, place } = spec
    // What follows on stdout, such as a prompt, begins on a line of its own. A file is a window file, byte for byte.
    if (path === '-' && format === 'json') await output.write(Buffer.from('\n'))
    // Frees its memory: what was written stays until all outputs are.
    this.exporter = undefined
    await output.finish()
    const series = this.series.map(({ symbol, interval }) => ({ symbol, interval }))
    const compression = gzip ? 'gzip' : this.encoding.rowFormat.compression
    this.finished = { file: { path, format, compression, series, candles, ...stats, bytes: output.bytes }, place }
  }

  async discard(): Promise<void> {
    await this.output?.discard()
  }

  private async openExporter(): Promise<Exporter> {
    const { series } = this
    const { path, place, format, gzip } = this.spec
    const opened: Output = place ? await OutputFile.open(place) : await this.open(path)
    const output: Output = gzip ? new GzipOutput(opened) : opened
    this.output = output
    const join = (name: keyof SeriesLabel) => [...new Set(series.map(label => label[name]))].join(',')
    const { range, limit, tail, source = 'unknown', rowFormat, fingerprint } = this.encoding
    const { columns } = rowFormat
    const names = { symbol: join('symbol'), interval: join('interval') }
    const metadata = { ...names, range: range.text, limit, tail, source, version: VERSION }
    const options: ExporterOptions = {
      rowFormat: { ...rowFormat, columns: series.length > 1 ? withSeriesColumns(columns) : columns },
      metadata,
      stats: this.stats,
      fingerprints: () => (fingerprint === 'named' ? this.fingerprints : undefined),
      emit: async bytes => {
        await this.writing
        this.writing = output.write(bytes)
        // The next chunk or `finish` reports a failure.
        this.writing.catch(() => {})
      },
    }
    return output.openExporter?.(options) ?? openExporter(format, options)
  }
}
