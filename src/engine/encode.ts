import type { SeriesLabel } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import type { Mirror } from '../mirror/mirror.js'
import { Fingerprinter, type SeriesFingerprint, sha256 } from '../rows/fingerprint.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import type { WindowFailure, WindowStream } from './outcome.js'
import { type FilePlace, OutputFile } from './output/file.js'
import type { Output } from './output/output.js'
import type { OutputSpec } from './output/output-spec.js'
import { type FinishedOutput, type OutputFormat, OutputWriter } from './output/output-writer.js'
import { openWindows, readSeries, readWindows } from './read.js'
import { type SeriesReport, Tally } from './report.js'
import type { Run } from './run.js'
import type { Plan, SeriesPlan } from './series-plan.js'
import { shareTasks } from './threads.js'

/** How all tasks of a run are encoded. */
export interface Encoding extends OutputFormat {
  readonly partial: boolean | undefined
  /** The most rows of each series: the first ones. Default: all. */
  readonly limit?: number | undefined
  /** The same for the last ones. */
  readonly tail?: number | undefined
}

/** One output of a task, and which rows go to it. */
export interface TaskOutput extends OutputSpec<SeriesLabel> {
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

/** Opens what takes the bytes of an output. */
export type OpenOutput = (output: TaskOutput) => Promise<Output>

/** How tasks are shared and counted. */
export interface EncodeOptions {
  /** More than one for windows that are in the mirror, and outputs that are files. */
  readonly threads: number
  readonly tally: Tally
  readonly open: OpenOutput
}

/** What a worker starts with. */
export interface EncodeScope {
  readonly root: string
  readonly encoding: Encoding
  readonly plan: Pick<Plan, 'range'>
}

/** The result of a task in a worker. */
interface WorkerResult {
  readonly encoded: EncodedTask | undefined
  readonly reports: readonly SeriesReport[]
  readonly failures: readonly WindowFailure[]
}

/**
 * Writes the outputs of all tasks, several tasks at once; nothing is in its place then. A task with a window that could not be had has no
 * result, and the tally says which. Throws what the format, the outputs and the source throw.
 */
export async function encodeTasks(
  run: Run,
  tasks: readonly EncodeTask[],
  encoding: Encoding,
  { threads, tally, open }: EncodeOptions,
): Promise<(EncodedTask | undefined)[]> {
  if (threads > 1) {
    const results = await shareTasks<EncodeTask, WorkerResult>({
      module: 'engine/worker.cjs',
      data: { root: run.mirror.root, encoding, plan: { range: tally.plan.range } } satisfies EncodeScope,
      tasks,
      threads,
      work: async task => {
        const result = await encodeAlone(run, task, encoding, tally.plan)
        tally.pass(task.series)
        return result
      },
      done: ({ series }) => tally.pass(series),
      signal: run.signal,
    })
    for (const [index, { reports, failures }] of results.entries())
      tally.addSeries(tasks[index].series, reports, failures)
    return results.map(({ encoded }) => encoded)
  }
  const windows = openWindows(
    run,
    tasks.flatMap(({ series }) => series),
  )
  const encoded: (EncodedTask | undefined)[] = []
  try {
    for (const task of tasks)
      encoded.push(await encodeTask(task, encoding, { windows, tally, open, mirror: run.mirror }))
  } finally {
    await windows.return(undefined)
  }
  return encoded
}

/** Encodes a task whose windows are in the mirror and whose outputs are files, in any thread. */
export async function encodeAlone(
  run: Pick<Run, 'mirror' | 'signal'>,
  task: EncodeTask,
  encoding: Encoding,
  plan: Pick<Plan, 'range'>,
): Promise<WorkerResult> {
  const tally = new Tally(
    { ...plan, series: task.series, gone: [] },
    { ...run, source: undefined, emit: () => {} },
    true,
  )
  const windows = readWindows(run, task.series)
  const open = ({ place }: TaskOutput) => OutputFile.open(place as FilePlace)
  const encoded = await encodeTask(task, encoding, { windows, tally, open, mirror: run.mirror })
  return { encoded, reports: tally.reports, failures: tally.failures }
}

/**
 * Reads the windows of a task and writes its outputs. After a window that could not be had, the others are only counted (and
 * downloaded, for the next run), and it returns undefined. Then, and when it throws, nothing is left of its outputs.
 */
async function encodeTask(
  task: EncodeTask,
  encoding: Encoding,
  { windows, tally, open, mirror }: { windows: WindowStream; tally: Tally; open: OpenOutput; mirror: Mirror },
): Promise<EncodedTask | undefined> {
  const writer = new TaskWriter(task, encoding, open)
  const fingerprinter = task.fingerprint ? new Fingerprinter(task.series[0].label) : undefined
  const digests = new Map<string, string>()
  const source = task.digests ? withDigests(windows, digests) : windows
  let isDone = false
  try {
    for (const series of task.series) {
      let left = encoding.limit ?? Number.POSITIVE_INFINITY
      const batches = readSeries(source, series, tally, { mirror, partial: encoding.partial })
      // Candles as they are were cut to the last ones before: which longer ones are whole is known at the end.
      const isCut = encoding.tail === undefined || series.resampleTo === undefined
      for await (const batch of isCut ? batches : lastRows(batches, encoding.tail)) {
        const rows = batch.length > left ? batch.rows(0, left) : batch
        left -= rows.length
        fingerprinter?.add(rows)
        await writer.write(rows)
      }
    }
    if (tally.hasFailed) return undefined
    const outputs = await writer.finish()
    isDone = true
    return { outputs, fingerprint: fingerprinter?.finish(), digests }
  } finally {
    if (!isDone) await writer.discard()
  }
}

/** The same windows; their digests are found out on the way. */
async function* withDigests(windows: WindowStream, digests: Map<string, string>): WindowStream {
  for (;;) {
    const { value, done } = await windows.next()
    if (done || value === undefined) return undefined
    if ('bytes' in value) digests.set(value.window.startDate, sha256(value.bytes))
    yield value
  }
}

/** The last rows of batches that have memory of their own. */
async function* lastRows(
  batches: AsyncIterable<KlineBatch>,
  count = Number.POSITIVE_INFINITY,
): AsyncGenerator<KlineBatch> {
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

/** Writes rows to the outputs of a task, one output after the other. */
class TaskWriter {
  private readonly writers: readonly (OutputWriter | undefined)[]
  private readonly finished: (FinishedOutput | undefined)[] = []

  constructor(
    private readonly task: EncodeTask,
    encoding: Encoding,
    open: OpenOutput,
  ) {
    this.writers = task.outputs.map(output =>
      output.stays ? undefined : new OutputWriter(output, encoding, () => open(output)),
    )
  }

  /** Adds rows in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    for (let rest = batch; rest.length > 0; ) {
      while (rest.openTime(0) >= this.range.toTime) await this.finishNext()
      const { fromTime, toTime } = this.range
      if (rest.openTime(0) < fromTime) throw new Error('A row belongs to no output.')
      await this.writers[this.finished.length]?.write(rest.slice(-Infinity, toTime))
      rest = rest.slice(toTime, Infinity)
    }
  }

  /** Writes what is left. */
  async finish(): Promise<(FinishedOutput | undefined)[]> {
    while (this.finished.length < this.writers.length) await this.finishNext()
    return this.finished
  }

  /** Leaves all outputs as they were. Never throws. */
  async discard(): Promise<void> {
    for (const writer of this.writers) await writer?.discard()
  }

  /** The range of the output that rows go to. */
  private get range(): TimeRange {
    return this.task.outputs[this.finished.length]?.range ?? { fromTime: Infinity, toTime: Infinity }
  }

  private async finishNext(): Promise<void> {
    this.finished.push(await this.writers[this.finished.length]?.finish())
  }
}
