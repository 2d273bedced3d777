import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import { ALL_TIME } from '../candles/time-range.js'
import { parseRowFormat, type RowFormat } from '../formats/row-format.js'
import { removeLeftovers } from '../fs/files.js'
import { joinNames } from '../mirror/errors.js'
import { CANDLE_OPTIONS, checkValue, type FileFormat, type Format, type OutputRequest } from '../options.js'
import { reportFingerprints } from '../rows/fingerprint.js'
import { type EncodeTask, encodeTasks, type WrittenFile } from './encode.js'
import { checkGone, noWholeCandle } from './errors.js'
import { type DryRunReport, describePlan, downloadPlan, type ReadRequest } from './klines.js'
import { commitFiles, discardFile, type FilePlace, prepareFile } from './output-file.js'
import { checkOutputs, type OutputSpec, parseTemplate, planOutputs } from './output-names.js'
import { isStream, type Output, type OutputStream, StreamOutput } from './output-stream.js'
import { checkPartial, planRequest } from './plan.js'
import { cutToTail } from './read.js'
import { type DownloadReport, Tally } from './report.js'
import { openRun, type Run, withRun } from './run.js'
import { checkThreads, countThreads, type ThreadOptions } from './threads.js'
import type { Plan, SeriesPlan } from './windows.js'

/** Which candles, the files to write them to, and what is in these. */
export interface ExportRequest extends ReadRequest, OutputRequest, ThreadOptions {
  /**
   * A path with the placeholders `{symbol}`, `{base}`, `{quote}` and `{interval}`, `-` for stdout, or a stream of Node or of the web that
   * takes bytes. A stream gets its first byte when every window is there, and is ended after the last one; when the run fails later, it
   * is destroyed. Without a byte it stays as it is.
   */
  readonly output: string | OutputStream
  /** Default: from the extension of `output`; `json` for stdout and a stream. */
  readonly format?: Format | undefined
  /** Replace existing files. */
  readonly force?: boolean | undefined
  /** Write only so many candles of each series, the first ones. */
  readonly limit?: number | undefined
  /** The same for the last ones. */
  readonly tail?: number | undefined
}

/** The result of an export: how its windows were downloaded or read, and its files. */
export interface ExportReport extends DownloadReport {
  readonly files: WrittenFile[]
}

/** Opens what takes the bytes of the only output instead of a file or stdout, when every window is there. */
type Sink = (report: DownloadReport) => Output | Promise<Output>

/** What may be done in another way than a request says: the bytes go to `sink`, the candles are those of `plan`, in the run of `open`. */
interface ExportHooks {
  readonly sink?: Sink | undefined
  readonly plan?: ((run: Run) => Promise<Plan>) | undefined
  readonly open?: () => Promise<Run>
}

/**
 * Downloads what is missing or can still change (unless `offline`) and exports the range. No file is put in place and no byte
 * goes to stdout before every window is there and valid, so a run that lacks one exports nothing. Throws what `downloadKlines` throws,
 * `bad_output`, `output_exists`, `output_unwritable`, `output_closed` for a stream that is closed early, and `digits_lost` when a decimal does not fit `numbers: 'decimal'`.
 *
 * @example
 * const { files } = await exportKlines({ symbols: 'all', intervals: ['1d'], output: '{symbol}.parquet', numbers: 'decimal' })
 */
export async function exportKlines(request: ExportRequest): Promise<ExportReport> {
  const { output, signal } = request
  if (typeof output === 'string') return exportTo({ ...request, output })
  // The process goes on to use its stdout.
  if (output === process.stdout) return exportTo({ ...request, output: '-' })
  const stream = StreamOutput.toGiven(output, signal)
  return exportTo({ ...request, output: '-' }, { sink: () => stream })
}

type FileRequest = ExportRequest & { readonly output: string }

/** The same for a path. */
export function exportTo(request: FileRequest, hooks: ExportHooks = {}): Promise<ExportReport> {
  const { sink, plan = run => planRequest(request, run, { isTail: request.tail !== undefined }) } = hooks
  const { format, rowFormat } = parseContent(request)
  return withRun(hooks.open?.() ?? openRun(request), async run => {
    const asked = await plan(run)
    const outputs = planOutputs(request.output, format, asked.series)
    if (!sink) await checkOutputs(outputs, request)
    return writeExport(asked, outputs, rowFormat, { ...request, sink }, run)
  })
}

/**
 * What `downloadKlines`, or with an `output` `exportKlines`, would download and write. Requests the lists, which say what
 * exists, and nothing else; exports nothing. Throws what those would throw about the request and its outputs.
 */
export function dryRun(
  request: Omit<ExportRequest, 'output'> & { readonly output?: string | undefined },
  plan: (run: Run) => Promise<Plan> = run => planRequest(request, run),
): Promise<DryRunReport> {
  checkExcerpt(request)
  const { output } = request
  const format = output === undefined ? undefined : parseContent({ ...request, output }).format
  return withRun(openRun(request, { readOnly: true }), async run => {
    const planned = await plan(run)
    const outputs = output !== undefined && format ? planOutputs(output, format, planned.series) : []
    await checkOutputs(outputs, request)
    return { ...describePlan(planned, run), files: outputs.map(({ path }) => path) }
  })
}

function parseContent(request: FileRequest): { readonly format: FileFormat; readonly rowFormat: RowFormat } {
  checkExcerpt(request)
  const format = parseTemplate(request.output, request.format)
  return { format, rowFormat: parseRowFormat(request, format.format) }
}

/** Throws `bad_option` for a number of candles or threads that is none, for both, and for `partial` without `resample`: no option is ignored. */
export function checkExcerpt(request: Omit<Partial<ExportRequest>, 'output'>): void {
  const { limit, tail } = request
  checkThreads(request)
  checkValue('limit', CANDLE_OPTIONS.limit, limit)
  checkValue('tail', CANDLE_OPTIONS.tail, tail)
  checkPartial(request)
  if (limit === undefined || tail === undefined) return
  throw new KlinesError('bad_option', '--limit and --tail both say which candles to write. Expected one of them.')
}

/**
 * Writes all outputs while their windows come, and puts the files in place when everything is complete: a run that fails before that
 * leaves all files as they were. Throws `incomplete`, which names every window that failed, or `no_candles`.
 */
async function writeExport(
  asked: Plan,
  outputs: readonly OutputSpec<SeriesPlan>[],
  rowFormat: RowFormat,
  { sink, ...options }: FileRequest & Pick<ExportHooks, 'sink'>,
  run: Run,
): Promise<ExportReport> {
  const { partial, limit, tail, fingerprint, signal } = options
  const plan = tail === undefined ? asked : await cutPlan(asked, tail, run)
  const cut = new Map(asked.series.map((one, index) => [one, plan.series[index]]))
  const streams = await Promise.all(outputs.map(({ path }) => isStream(path)))
  const isStreamed = sink !== undefined || streams.includes(true)
  const windows = plan.series.reduce((sum, one) => sum + one.windows.length, 0)
  const threads = isStreamed ? 1 : countThreads(outputs.length, windows, options)
  // Bytes in a pipe cannot be taken back.
  const first = isStreamed || run.source ? await downloadPlan(plan, run, options, true) : undefined
  // Windows that were downloaded have had their events.
  const tally = new Tally(plan, { ...run, source: undefined, ...(first && { emit: () => {} }) })
  const places: (FilePlace | undefined)[] = []
  try {
    const tasks: EncodeTask[] = []
    for (const [index, { series, ...spec }] of outputs.entries()) {
      const place = sink || streams[index] ? undefined : await prepareFile(spec.path, options)
      places.push(place)
      const plans = series.map(one => cut.get(one) as SeriesPlan)
      const labels = plans.map(({ label }) => label)
      tasks.push({ series: plans, outputs: [{ ...spec, series: labels, range: ALL_TIME, place }] })
    }
    removeLeftovers(places.flatMap(place => place?.target ?? []))
    const source = run.source?.name ?? run.mirror.source ?? 'unknown'
    const metadata = { range: plan.range.text, limit, tail, source }
    const encoding = { rowFormat, metadata, partial, limit, tail, fingerprint }
    const open = (path: string) => (sink && first ? sink(first) : StreamOutput.to(path, signal))
    const written = (await encodeTasks(run, tasks, encoding, { threads, tally, open })).map(task => task?.outputs[0])
    // A window that was downloaded before may be missing now, when somebody removed files.
    const report = first && tally.failures.length === 0 ? first : tally.report(options, true)
    const finished = written.flatMap(output => output ?? [])
    if (finished.length === 0) throw noWholeCandle(plan.series)
    await commitFiles(places.flatMap((place, index) => (written[index] && place) ?? []))
    const files = finished.map(({ file }) => file)
    warnAbout(report, files, run.warn)
    await discardAll(places.filter((_, index) => written[index] === undefined))
    checkGone(plan, run)
    const fingerprints = fingerprint && reportFingerprints(finished.flatMap(({ fingerprints = [] }) => fingerprints))
    return { ...report, files, ...(fingerprints && { fingerprints }) }
  } catch (error) {
    await discardAll(places)
    throw outputs.length > 1 ? withOtherOutputs(error) : error
  }
}

/** A plan of the last candles of each series. What lies before them was not asked for, so that nothing is missing there. */
async function cutPlan(plan: Plan, tail: number, run: Run): Promise<Plan> {
  const series: SeriesPlan[] = []
  for (const one of plan.series) series.push(await cutToTail(run, one, tail))
  return { ...plan, series, range: { ...plan.range, named: { ...plan.range.named, from: undefined } } }
}

/** The last one first: an earlier one may have made the folder above it. */
async function discardAll(places: readonly (FilePlace | undefined)[]): Promise<void> {
  for (const place of places.toReversed()) if (place) await discardFile(place)
}

/** Warns of series without candles, and of decimals that a double does not hold. */
export function warnAbout({ series }: DownloadReport, files: readonly WrittenFile[], warn: Run['warn']): void {
  const empty = series.filter(({ candles }) => candles === 0).map(seriesName)
  if (empty.length > 0) warn(`No candles in the range: ${joinNames(empty)}.`)
  const inexact = files.filter(({ inexactDoubles }) => inexactDoubles > 0)
  if (inexact.length === 0) return
  const count = inexact.reduce((sum, { inexactDoubles }) => sum + inexactDoubles, 0)
  const names = joinNames(inexact.map(({ path }) => (path === '-' ? 'stdout' : path)))
  warn(`${names}: ${count} decimals have more digits than a double holds; --numbers decimal keeps them all.`)
}

/** When the reader closes the pipe, an export ends with 0, unless others wait for files of the same export. */
function withOtherOutputs(error: unknown): unknown {
  if (!(error instanceof KlinesError && error.code === 'output_closed')) return error
  const { message, data, cause } = error
  return new KlinesError('output_unwritable', `${message} No file is put in its place.`, { cause, data })
}
