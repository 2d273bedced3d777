import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import { ALL_TIME } from '../candles/time-range.js'
import { parseRowFormat } from '../formats/row-format.js'
import { CANDLE_OPTIONS } from '../options/candle-options.js'
import type { Format } from '../options/formats.js'
import { checkValue } from '../options/option.js'
import type { OutputRequest } from '../options/output-options.js'
import { reportFingerprints } from '../rows/fingerprint.js'
import { downloadPlan } from './download.js'
import { type EncodeTask, type Encoding, encodeTasks } from './encode.js'
import { joinNames } from './errors.js'
import { commitOutputs } from './output/commit.js'
import { discardFile, type FilePlace, OutputFile } from './output/file.js'
import { GivenStream, type OutputStream } from './output/given-stream.js'
import { isStream, openStream, prepareOutput } from './output/open.js'
import type { Output } from './output/output.js'
import { checkOutputs, type OutputSpec, parseTemplate, planOutputs } from './output/output-spec.js'
import type { WrittenFile } from './output/output-writer.js'
import { removeLeftovers } from './output/temp.js'
import { planRequest } from './plan.js'
import { checkGone, type DownloadReport, Tally } from './report.js'
import type { ReadRequest } from './rows.js'
import { openRun, type Run, withRun } from './run.js'
import type { Plan, SeriesPlan } from './series-plan.js'
import { cutToTail } from './tail.js'
import { checkThreads, countThreads, type ThreadOptions } from './threads.js'

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
export type Sink = (report: DownloadReport) => Output | Promise<Output>

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
  const stream = new GivenStream(output, signal)
  return exportTo({ ...request, output: '-' }, () => stream)
}

/**
 * The same for a path, or with bytes that go to a `sink` instead; with `plan`, for candles that were planned otherwise, and with `open`,
 * in a run that was opened otherwise.
 */
export function exportTo(
  request: ExportRequest & { readonly output: string },
  sink?: Sink,
  plan: (run: Run) => Promise<Plan> = run => planRequest(request, run, { isTail: request.tail !== undefined }),
  open: () => Promise<Run> = () => openRun(request),
): Promise<ExportReport> {
  checkExcerpt(request)
  const format = parseTemplate(request.output, request.format)
  const rowFormat = parseRowFormat(request, format.format)
  return withRun(open(), async run => {
    const planned = await plan(run)
    const outputs = planOutputs(
      request.output,
      format,
      planned.series.map(one => ({ ...one.label, plan: one })),
    )
    if (!sink) await checkOutputs(outputs, request)
    return writeExport(planned, outputs, { ...request, rowFormat, sink }, run)
  })
}

/** Throws `bad_option` for a number of candles or threads that is none, for both, and for `partial` without `resample`: no option is ignored. */
export function checkExcerpt({
  limit,
  tail,
  partial,
  resample,
  threads,
}: Pick<ExportRequest, 'limit' | 'tail' | 'partial' | 'resample' | 'threads'>): void {
  checkThreads({ threads })
  checkValue('limit', CANDLE_OPTIONS.limit, limit)
  checkValue('tail', CANDLE_OPTIONS.tail, tail)
  if (partial && resample === undefined) {
    const message = '--partial keeps incomplete candles of another length, and none is requested.'
    throw new KlinesError('bad_option', message, { suggestions: ['Name a length with --resample, such as 1d.'] })
  }
  if (limit === undefined || tail === undefined) return
  throw new KlinesError('bad_option', '--limit and --tail both say which candles to write. Expected one of them.')
}

type PlannedOutput = OutputSpec<SeriesPlan['label'] & { readonly plan: SeriesPlan }>
type WriteOptions = ExportRequest & Pick<Encoding, 'rowFormat'> & { readonly sink?: Sink | undefined }

/**
 * Writes all outputs while their windows come, and puts the files in place when everything is complete: a run that fails before that
 * leaves all files as they were. Throws `incomplete`, which names every window that failed, or `no_candles`.
 */
async function writeExport(
  asked: Plan,
  specs: readonly PlannedOutput[],
  options: WriteOptions,
  run: Run,
): Promise<ExportReport> {
  const { partial, limit, tail, fingerprint, rowFormat, sink: given } = options
  const plan = tail === undefined ? asked : await cutPlan(asked, tail, run)
  const cut = new Map(asked.series.map((one, index) => [one, plan.series[index]]))
  const outputs = specs.map(({ series, ...spec }) => ({
    ...spec,
    series: series.map(one => cut.get(one.plan) as SeriesPlan),
  }))
  const streams = await Promise.all(outputs.map(({ path }) => isStream(path)))
  const isStreamed = given !== undefined || streams.includes(true)
  const windows = plan.series.reduce((sum, { windows }) => sum + windows.length, 0)
  const threads = isStreamed ? 1 : countThreads(outputs.length, windows, options)
  // Bytes in a pipe cannot be taken back, and only the main thread makes requests.
  const downloadsFirst = isStreamed || (threads > 1 && run.source !== undefined)
  const first = downloadsFirst ? await downloadPlan(plan, run, options, true) : undefined
  const sink = given && first && (() => given(first))
  const reading = first ? { ...run, source: undefined } : run
  const tally = new Tally(plan, reading, first !== undefined)
  const metadata = { range: plan.range.text, limit, tail, source: run.source?.name ?? run.mirror.source ?? 'unknown' }
  const places: (FilePlace | undefined)[] = []
  try {
    if (!isStreamed) await removeLeftovers(outputs.map(({ path }) => path))
    for (const { path } of outputs) places.push(await prepareOutput(path, { ...options, sink }))
    const tasks: EncodeTask[] = outputs.map(({ series, ...spec }, index) => ({
      series,
      outputs: [{ ...spec, series: series.map(({ label }) => label), range: ALL_TIME, place: places[index] }],
    }))
    const written = await encodeTasks(
      reading,
      tasks,
      { rowFormat, metadata, partial, limit, tail, fingerprint },
      {
        threads,
        tally,
        open: async ({ path, place }) => (place ? OutputFile.open(place) : openStream(path, { ...options, sink })),
      },
    )
    // A window that was downloaded before may be missing now, when somebody removed files.
    const report = first && !tally.hasFailed ? first : tally.report(options, true)
    const finished = written.flatMap(task => task?.outputs[0] ?? [])
    if (finished.length === 0) throw noWholeCandle(plan.series)
    await commitOutputs(finished.map(({ file, finished }) => ({ path: file.path, finished })))
    const files = finished.map(({ file }) => file)
    warnAbout(report, files, run.warn)
    await discardAll(places.filter((_, index) => written[index]?.outputs[0] === undefined))
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

/** The error for a range that has candles, but none as long as the requested ones. */
export function noWholeCandle([{ series, label }]: readonly SeriesPlan[]): KlinesError {
  const message = `The ${series.interval} candles of the range do not cover a whole ${label.interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, { suggestions: ['--partial keeps candles that are covered in part.'] })
}
