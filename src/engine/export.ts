import type { Writable } from 'node:stream'
import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import { parseRowFormat, type RowFormat } from '../formats/row-format.js'
import { joinNames } from '../mirror/errors.js'
import { CANDLE_OPTIONS, checkNames, checkValue, type FileFormat, type Format, type OutputRequest } from '../options.js'
import { reportFingerprints, type SeriesFingerprint } from '../rows/fingerprint.js'
import { type EncodeTask, type Encoding, encodeTasks, type WrittenFile } from './encode.js'
import { type DryRunReport, describePlan, downloadPlan, type ReadRequest } from './klines.js'
import { noWholeCandle } from './no-candles.js'
import { commitFiles, type FilePlace, prepareFile } from './output-file.js'
import { checkOutputs, parseTemplate, planOutputs } from './output-names.js'
import { isStream, type Output, StreamOutput } from './output-stream.js'
import { planRequest } from './plan.js'
import { cutToTail } from './read.js'
import { checkGone, type DownloadReport, Tally } from './report.js'
import { openRun, type Plan, quiet, type Run, type SeriesPlan, sourceOf, withoutAbsent, withRun } from './run.js'
import { checkThreads, type ThreadOptions } from './threads.js'

/** Which candles, the files to write them to, and what is in these. */
export interface ExportRequest extends ReadRequest, OutputRequest, ThreadOptions {
  /**
   * A path with the placeholders `{symbol}`, `{base}`, `{quote}` and `{interval}`, `-` for stdout, or a stream of Node. A
   * stream gets its first byte when every window is there, and is ended after the last one; when the run fails later, it is destroyed.
   */
  readonly output: string | Writable
  /** Default: from the extension; `json` for stdout and a stream. */
  readonly format?: Format | undefined
  /** Replace existing files whose content is another one. */
  readonly force?: boolean | undefined
  /** Write only so many candles of each series: the first ones, or the last ones. */
  readonly limit?: number | undefined
  readonly tail?: number | undefined
}

/** What became of the windows of an export, and its files. */
export interface ExportReport extends DownloadReport {
  readonly files: WrittenFile[]
}

/** What the request does not say: where the bytes go, and which candles they are. */
interface ExportHooks {
  readonly sink?: (() => Output) | undefined
  readonly plan?: ((run: Run) => Promise<Plan>) | undefined
}

/**
 * Downloads what is missing or can still change (unless `offline`) and exports the range. No file is put in place and no byte
 * goes to stdout before every window is there and valid. Throws what `downloadKlines` throws, `bad_output`, `output_exists`,
 * `output_unwritable`, `output_closed` for a stream that is closed early, and `digits_lost`.
 *
 * @example
 * const { files } = await exportKlines({ symbols: 'all', intervals: ['1d'], output: '{symbol}.parquet', numbers: 'decimal' })
 */
export async function exportKlines(request: ExportRequest): Promise<ExportReport> {
  const { output, signal } = request
  checkNames(request)
  if (output === undefined) throw new KlinesError('bad_option', 'The option "output" is missing.')
  if (typeof output === 'string') return exportTo({ ...request, output })
  const stream = StreamOutput.to(output, signal)
  stream.checkOpen()
  return exportTo({ ...request, output: '-' }, { sink: () => stream })
}

export type FileRequest = ExportRequest & { readonly output: string }

/** The same for a path. */
export function exportTo(request: FileRequest, hooks?: ExportHooks): Promise<ExportReport> {
  return withRun(openRun(request), run => exportIn(run, request, hooks))
}

export async function exportIn(run: Run, request: FileRequest, hooks: ExportHooks = {}): Promise<ExportReport> {
  const { sink, plan = run => planRequest(request, run, { isTail: request.tail !== undefined }) } = hooks
  const { format, rowFormat } = parseContent(request)
  const asked = await plan(run)
  const named = planOutputs(request.output, format, asked.series)
  if (!sink) await checkOutputs(named)
  const { partial, limit, tail, fingerprint, signal, threads } = request
  const cut = await cutPlan(asked, tail, run)
  const places = new Map<string, FilePlace>()
  for (const { path } of named) if (!sink && !(await isStream(path))) places.set(path, await prepareFile(path, request))
  // Bytes in a pipe cannot be taken back: every window is there before the first one. Files are read and counted once.
  const isStreamed = places.size < named.length
  const first = isStreamed || run.source ? await downloadPlan(cut, run, request, true) : undefined
  const there = thereOf(cut, run)
  const tasks = planOutputs(request.output, format, there.series).map(({ path, series, ...spec }): EncodeTask => {
    return { series, output: { ...spec, path, place: places.get(path) } }
  })
  const tally = new Tally(there, first ? quiet(run) : run)
  const content = { range: cut.range, source: sourceOf(run), rowFormat, partial, limit, tail }
  const encoding: Encoding = { ...content, fingerprint: fingerprint ? 'named' : undefined }
  const open = (path: string) => (sink ? sink() : StreamOutput.to(path, signal))
  return encodeTasks(run, tasks, encoding, { tally, threads, open }, async encoded => {
    const report = first ?? (await tally.report(request, true))
    const written = encoded.flatMap(({ finished }) => finished ?? [])
    if (written.length === 0) throw noWholeCandle(cut.series)
    const placed = await commitFiles(written.flatMap(({ place }) => place ?? []))
    const files = written.map(({ file, place }) => ({ ...file, unchanged: place && !placed.includes(file.path) }))
    const fingerprints = encoded.flatMap(one => one.fingerprints)
    return reportExport(cut, run, { ...report, files }, fingerprint ? fingerprints : undefined)
  })
}

/** The plan of an export that another thread writes: of a run with a source, its windows are made current first. */
export async function planExport(request: FileRequest, run: Run): Promise<Plan> {
  parseContent(request)
  const plan = await planRequest(request, run, { isTail: request.tail !== undefined })
  if (run.source === undefined) return plan
  const cut = await cutPlan(plan, request.tail, run)
  await downloadPlan(cut, run, request, true)
  return thereOf(cut, run)
}

/** A plan without the windows that the source was found to lack at its ends. */
export function thereOf(plan: Plan, run: Run): Plan {
  return { ...plan, series: plan.series.map(one => withoutAbsent(one, run)) }
}

export function reportExport(
  plan: Plan,
  run: Run,
  report: ExportReport,
  fingerprints?: readonly SeriesFingerprint[],
): ExportReport {
  const { series, files } = report
  const empty = series.filter(({ candles }) => candles === 0).map(seriesName)
  if (empty.length > 0) run.warn(`No candles in the range: ${joinNames(empty)}.`)
  const inexact = files.filter(({ inexactDoubles }) => inexactDoubles > 0)
  if (inexact.length > 0) {
    const count = inexact.reduce((sum, { inexactDoubles }) => sum + inexactDoubles, 0)
    const names = joinNames(inexact.map(({ path }) => (path === '-' ? 'stdout' : path)))
    run.warn(`${names}: ${count} decimals have more digits than a double holds; --numbers decimal keeps them all.`)
  }
  checkGone(plan, run)
  return { ...report, ...(fingerprints && { fingerprints: reportFingerprints(fingerprints) }) }
}

/** What `downloadKlines`, or with an `output` `exportKlines`, would download and write. Requests the lists alone. */
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
    await checkOutputs(outputs)
    return { ...(await describePlan(planned, run)), files: outputs.map(({ path }) => path) }
  })
}

function parseContent(request: FileRequest): { readonly format: FileFormat; readonly rowFormat: RowFormat } {
  checkExcerpt(request)
  const format = parseTemplate(request.output, request.format)
  return { format, rowFormat: parseRowFormat(request, format.format) }
}

/** Throws `bad_option` for values and combinations of these options that nothing can mean: no option is ignored. */
function checkExcerpt(request: Omit<Partial<ExportRequest>, 'output'>): void {
  const { limit, tail } = request
  checkThreads(request)
  checkValue('limit', CANDLE_OPTIONS.limit, limit)
  checkValue('tail', CANDLE_OPTIONS.tail, tail)
  if (limit === undefined || tail === undefined) return
  throw new KlinesError('bad_option', '--limit and --tail both say which candles to write. Expected one of them.')
}

/** A plan of the last candles of each series: nothing is missing before them. Without `tail` the plan itself. */
async function cutPlan(plan: Plan, tail: number | undefined, run: Run): Promise<Plan> {
  if (tail === undefined) return plan
  const series: SeriesPlan[] = []
  for (const one of plan.series) series.push(await cutToTail(run, one, tail))
  return { ...plan, series, range: { ...plan.range, named: { ...plan.range.named, from: undefined } } }
}
