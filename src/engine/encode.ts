import { type SeriesLabel, seriesName } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import type { Exporter, ExporterOptions, FileMetadata } from '../formats/exporter.js'
import { type RowFormat, withSeriesColumns } from '../formats/row-format.js'
import { openExporter } from '../formats/text.js'
import type { WindowFailure } from '../mirror/errors.js'
import { Mirror } from '../mirror/mirror.js'
import type { Compression, FileFormat, Format } from '../options.js'
import { Fingerprinter, type SeriesFingerprint, sha256 } from '../rows/fingerprint.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { VERSION } from '../version.js'
import { type FilePlace, OutputFile } from './output-file.js'
import { GzipOutput, type Output, StreamOutput } from './output-stream.js'
import { readPlan } from './read.js'
import { type SeriesReport, Tally } from './report.js'
import type { Run } from './run.js'
import { shareTasks } from './threads.js'
import type { Plan, SeriesPlan, WindowResult } from './windows.js'

/** How all tasks of a run are encoded. Plain data. */
export interface Encoding {
  readonly rowFormat: RowFormat
  readonly metadata: Pick<FileMetadata, 'range' | 'source'>
  /** Whether outputs have fingerprints. */
  readonly fingerprint?: boolean | undefined
  readonly partial: boolean | undefined
  /** The most rows of each series: the first ones. Default: all. */
  readonly limit?: number | undefined
  /** The same for the last ones. */
  readonly tail?: number | undefined
}

/** One output of a task, and which rows go to it. */
export interface TaskOutput extends FileFormat {
  /** A path, or `-` for stdout and for a stream. */
  readonly path: string
  readonly series: readonly SeriesLabel[]
  /** Open times of its rows, ms UTC. Those of the outputs of a task ascend. */
  readonly range: TimeRange
  /** Where its file is written; undefined for a stream, which only the main thread writes. */
  readonly place: FilePlace | undefined
  /** Its rows are there already: they are read, and not written. */
  readonly stays?: boolean
}

/**
 * What a thread does at a time: the windows of some series, which are read in order, and the outputs that their rows go to, one after
 * the other. An export has one output with all rows of its series, a lake the parts of one series. Plain data.
 */
export interface EncodeTask {
  readonly series: readonly SeriesPlan[]
  readonly outputs: readonly TaskOutput[]
  /** Whether the fingerprint of all rows is wanted, for a task of one series. */
  readonly fingerprint?: boolean | undefined
  /** Whether the SHA-256 of its windows are wanted, as they were read. */
  readonly digests?: boolean | undefined
}

/** A task all of whose outputs are written. */
export interface EncodedTask {
  /** One for each output; undefined for one without rows, and for one that stays. */
  readonly outputs: readonly (FinishedOutput | undefined)[]
  readonly fingerprint: SeriesFingerprint | undefined
  /** By startDate. */
  readonly digests: ReadonlyMap<string, string>
}

/** A file that was written. */
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

/** An output all of whose bytes are on the disk or with the reader; a file waits for its place. */
export interface FinishedOutput {
  readonly file: WrittenFile
  /** Of its series with rows, in their order, if that was asked for. */
  readonly fingerprints: readonly SeriesFingerprint[] | undefined
  /** Open times of its first and last row, ms UTC. */
  readonly firstOpenTime: number
  readonly lastOpenTime: number
}

/** What a worker begins with. */
interface EncodeScope {
  readonly root: string
  readonly encoding: Encoding
  readonly range: Plan['range']
}

/** The result of a task in a worker. */
interface WorkerResult {
  readonly encoded: EncodedTask | undefined
  readonly reports: readonly SeriesReport[]
  readonly failures: readonly WindowFailure[]
}

/** Opens what takes the bytes of an output without a place. */
type OpenStream = (path: string) => Output | Promise<Output>

/**
 * Writes the outputs of tasks from the mirror, several tasks at once; no file is in its place then. A task with a window that could not be
 * had has no result, and the tally says which. Throws what the format and the outputs throw.
 */
export async function encodeTasks(
  { mirror, signal }: Pick<Run, 'mirror' | 'signal'>,
  tasks: readonly EncodeTask[],
  encoding: Encoding,
  { threads, tally, open }: { threads: number; tally: Tally; open?: OpenStream },
): Promise<(EncodedTask | undefined)[]> {
  const data: EncodeScope = { root: mirror.root, encoding, range: tally.plan.range }
  const results = await shareTasks<EncodeTask, Partial<WorkerResult>>({
    ...{ kind: 'encode', data, tasks, threads, signal },
    work: async task => ({ encoded: await encodeTask({ mirror, signal }, task, encoding, tally, open) }),
    done: ({ series }, { reports = [], failures = [] }) => tally.addCounted(series, reports, failures),
  })
  return results.map(({ encoded }) => encoded)
}

/** What does the tasks of a worker. The main thread has read the mirror before, and has warned about it. */
export function encodeInWorker({ root, encoding, range }: EncodeScope): (task: EncodeTask) => Promise<WorkerResult> {
  const run = { mirror: new Mirror(root), source: undefined, signal: new AbortController().signal, emit: () => {} }
  return async task => {
    const tally = new Tally({ range, series: task.series, gone: [] }, run)
    const encoded = await encodeTask(run, task, encoding, tally)
    return { encoded, reports: tally.reports, failures: tally.failures }
  }
}

/**
 * Reads the windows of a task and writes its outputs. After a window that could not be had, the others are only counted, and it returns
 * undefined. Then, and when it throws, nothing is left of its outputs.
 */
async function encodeTask(
  run: Pick<Run, 'mirror' | 'signal'>,
  { series, outputs, ...task }: EncodeTask,
  encoding: Encoding,
  tally: Tally,
  open?: OpenStream,
): Promise<EncodedTask | undefined> {
  const { partial, limit = Number.POSITIVE_INFINITY, tail } = encoding
  const writers = outputs.map(output => (output.stays ? undefined : new OutputWriter(output, encoding, open)))
  const finished: (FinishedOutput | undefined)[] = []
  const finishNext = async () => finished.push(await writers[finished.length]?.finish())
  const write = async (batch: KlineBatch) => {
    for (let rest = batch; rest.length > 0; ) {
      const range = outputs[finished.length]?.range
      if (range === undefined || rest.openTime(0) < range.fromTime) throw new Error('A row belongs to no output.')
      if (rest.openTime(0) < range.toTime) {
        await writers[finished.length]?.write(rest.slice(-Infinity, range.toTime))
        rest = rest.slice(range.toTime, Infinity)
      } else await finishNext()
    }
  }
  const fingerprinter = task.fingerprint ? new Fingerprinter(series[0].label) : undefined
  const digests = new Map<string, string>()
  const digest = ({ window, bytes }: WindowResult) => void digests.set(window.startDate, sha256(bytes))
  const reading = { series, partial, ...(task.digests && { onWindow: digest }) }
  let isDone = false
  try {
    for await (const [{ resampleTo }, candles] of readPlan(run, tally, reading)) {
      let left = limit
      // Candles as they are were cut to the last ones before: which longer ones are whole is known at the end.
      const isCut = tail === undefined || resampleTo === undefined
      for await (const batch of isCut ? candles : lastRows(candles, tail)) {
        const rows = batch.length > left ? batch.rows(0, left) : batch
        left -= rows.length
        fingerprinter?.add(rows)
        await write(rows)
      }
    }
    if (tally.failures.length > 0) return undefined
    while (finished.length < writers.length) await finishNext()
    isDone = true
    return { outputs: finished, fingerprint: fingerprinter?.finish(), digests }
  } finally {
    if (!isDone) for (const writer of writers) await writer?.discard()
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

/** Turns the rows of one output into bytes, and writes these. Nothing is opened before the first row. */
class OutputWriter {
  private readonly stats = { inexactDoubles: 0 }
  private readonly fingerprinters: ReadonlyMap<string, Fingerprinter> | undefined
  private fingerprints: readonly SeriesFingerprint[] | undefined
  private candles = 0
  private firstOpenTime = 0
  private lastOpenTime = 0
  private exporter: Exporter | undefined
  private output: Output | undefined
  /** The last chunk, which is written while the next one is made: never more than two are in memory. */
  private writing = Promise.resolve()

  constructor(
    private readonly spec: TaskOutput,
    private readonly encoding: Encoding,
    private readonly open: OpenStream | undefined,
  ) {
    if (encoding.fingerprint)
      this.fingerprinters = new Map(spec.series.map(series => [seriesName(series), new Fingerprinter(series)]))
  }

  /** Adds rows: series by series, each in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    if (this.exporter === undefined) {
      this.exporter = await this.openExporter()
      this.firstOpenTime = batch.openTime(0)
    }
    this.fingerprinters?.get(seriesName(batch.series))?.add(batch)
    this.candles += batch.length
    this.lastOpenTime = batch.openTime(batch.length - 1)
    await this.exporter.write(batch)
  }

  /** Writes what is left. Returns undefined for an output without rows. */
  async finish(): Promise<FinishedOutput | undefined> {
    const { spec, exporter, output, candles, stats, firstOpenTime, lastOpenTime } = this
    if (exporter === undefined || output === undefined) return undefined
    if (this.fingerprinters)
      this.fingerprints = [...this.fingerprinters.values()].flatMap(series => series.finish() ?? [])
    await exporter.end()
    await this.writing
    // What follows on stdout, such as a prompt, begins on a line of its own. A file is a window file, byte for byte.
    if (spec.path === '-' && spec.format === 'json') await output.write(Buffer.from('\n'))
    // Frees its memory: what was written stays until all outputs are.
    this.exporter = undefined
    await output.finish()
    const { path, format, gzip } = spec
    const series = spec.series.map(({ symbol, interval }) => ({ symbol, interval }))
    const compression = gzip ? 'gzip' : this.encoding.rowFormat.compression
    const file = { path, format, compression, series, candles, ...stats, bytes: output.bytes }
    return { file, fingerprints: this.fingerprints, firstOpenTime, lastOpenTime }
  }

  /** Leaves the output as it was, as far as possible. Never throws. */
  async discard(): Promise<void> {
    await this.output?.discard()
  }

  private async openExporter(): Promise<Exporter> {
    const { path, place, format, gzip, series } = this.spec
    const opened: Output = place ? await OutputFile.open(place) : await (this.open ?? StreamOutput.to)(path)
    const output: Output = gzip ? new GzipOutput(opened) : opened
    this.output = output
    const join = (names: readonly string[]) => [...new Set(names)].join(',')
    const symbol = join(series.map(({ symbol }) => symbol))
    const interval = join(series.map(({ interval }) => interval))
    const { rowFormat, metadata } = this.encoding
    const { columns } = rowFormat
    const options: ExporterOptions = {
      rowFormat: { ...rowFormat, columns: series.length > 1 ? withSeriesColumns(columns) : columns },
      metadata: { symbol, interval, ...metadata, version: VERSION },
      stats: this.stats,
      fingerprints: () => this.fingerprints,
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
