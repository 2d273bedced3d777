import { WriteStream } from 'node:tty'
import { gzipSync } from 'node:zlib'
import { marketOf, SAMPLE } from '../../candles/base-url.js'
import { KlinesError } from '../../candles/errors.js'
import { drawSvg, SAMPLE_NOTE } from '../../chart/svg/draw-svg.js'
import * as svg from '../../chart/svg/layout.js'
import * as frame from '../../chart/terminal/frame.js'
import { type FileOptions, writeFiles } from '../../engine/output-file.js'
import { checkOutputs, parseTemplate, planOutputs } from '../../engine/output-names.js'
import { isStdout } from '../../fs/links.js'
import { checkValue } from '../../options.js'
import { refuse, refuseJson } from '../command.js'
import { coverageText, sourceNote } from '../fields.js'
import type { ChartRoom, LoadedCharts } from './load-charts.js'

interface ChartFlags {
  readonly output?: string | undefined
  readonly format?: string | undefined
  readonly theme?: svg.PictureOptions['theme'] | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly log: boolean
  readonly ascii: boolean
  readonly json: boolean | undefined
}

type PictureJob = NonNullable<ReturnType<typeof parsePictures>>

/**
 * The pictures that `-o` and `-f` request; undefined for charts in the terminal. The width and height of a default are characters. Throws
 * `bad_option` for flags that do not fit, and `bad_output` for another format than svg.
 */
export function parsePictures(flags: ChartFlags, given: ReadonlySet<string>) {
  /** A path with placeholders, or `-` for stdout. */
  const template = flags.output ?? (given.has('format') ? '-' : undefined)
  if (template === undefined) {
    if (given.has('theme')) throw refuse('--theme is for a picture. Name one with -o.')
    return undefined
  }
  if (given.has('ascii')) throw refuse('--ascii is for a terminal. Leave it out with -o and -f.')
  if (template !== '-' && flags.format === undefined && !/\.svg(\.gz)?$/i.test(template)) {
    const message = `A chart is drawn as svg, not as ${template}. Expected a name that ends with .svg.`
    throw new KlinesError('bad_output', message, { suggestions: ['klines export writes the candles themselves.'] })
  }
  if (flags.json && isStdout(template)) throw refuseJson('picture')
  const side = (name: 'width' | 'height', range: typeof svg.PICTURE_WIDTHS) => {
    const value = (given.has(name) ? flags[name] : undefined) ?? svg.DEFAULT_PICTURE[name]
    checkValue(name, { takes: 'number', unit: 'pixels', range }, value)
    return value
  }
  const size = { width: side('width', svg.PICTURE_WIDTHS), height: side('height', svg.PICTURE_HEIGHTS) }
  const { theme = svg.DEFAULT_PICTURE.theme, log } = flags
  // A text, as JSON is.
  const { gzip } = parseTemplate(template, 'json')
  return { template, gzip, picture: { theme, log, ...size } }
}

export function roomFor(pictures: PictureJob | undefined, flags: ChartFlags): ChartRoom {
  if (pictures) return { candles: svg.maxCandles(pictures.picture), besideLabels: () => Infinity }
  const size = { width: chartWidth(flags), log: flags.log }
  return { candles: frame.candlesThatFit(size.width), besideLabels: chart => frame.candlesBesideLabels(chart, size) }
}

/** Writes a picture of each series. Throws what `planOutputs` and `checkOutputs` throw. */
export async function drawPictures(
  { charts, baseUrl }: LoadedCharts,
  { template, gzip, picture }: PictureJob,
  options: FileOptions & { readonly signal?: AbortSignal | undefined; readonly resample?: string | undefined },
): Promise<{ path: string; bytes: number; candles: number }[]> {
  const labelled = charts.map(chart => {
    return { ...chart.series, interval: options.resample ?? chart.series.interval, chart }
  })
  const targets = planOutputs(template, { format: 'svg', gzip }, labelled)
  await checkOutputs(targets)
  const note = baseUrl === SAMPLE ? SAMPLE_NOTE : marketOf(baseUrl)?.badge
  const files = targets.map(({ path, series: [{ chart }] }) => {
    const text = Buffer.from(drawSvg(chart, picture, note) ?? '')
    return { path, bytes: gzip ? gzipSync(text) : text, candles: chart.candles }
  })
  await writeFiles(files, options)
  return files.map(({ path, bytes, candles }) => ({ path, bytes: bytes.length, candles }))
}

export function drawCharts(loaded: LoadedCharts, flags: ChartFlags, warn: (text: string) => void): void {
  const { charts, coverage, range, baseUrl } = loaded
  const width = chartWidth(flags)
  if (width < frame.MIN_WIDTH) warn(`The terminal has ${width} columns; a chart needs ${frame.MIN_WIDTH}.`)
  // The terminal shows one of several charts, and the prompt.
  const rows = Math.min(frame.MAX_HEIGHT, (process.stdout.rows || 25) - 1)
  const style = { colour: hasColours(), ascii: flags.ascii || !hasUnicode(), log: flags.log }
  const options = { ...style, width, height: flags.height ?? rows }
  const parts = charts.map(chart => frame.drawFrame(chart, options).join('\n'))
  const notes = [coverageText(coverage, { range, baseUrl, verbose: false }), ...sourceNote(baseUrl)]
  // The texts are drawn from names and decimals that were checked; ANSI codes must reach the terminal.
  process.stdout.write(`${[...parts, ...notes].filter(Boolean).join('\n\n')}\n`)
}

/** The columns of a chart: the flag's, the terminal's, those of COLUMNS, or 80. */
function chartWidth({ width }: ChartFlags): number {
  const { COLUMNS = '' } = process.env
  return width ?? (process.stdout.columns || (/^[1-9]\d{0,3}$/.test(COLUMNS) ? Number(COLUMNS) : 80))
}

/** Node's own rules for FORCE_COLOR, NO_COLOR and TERM. */
function hasColours(): boolean {
  const mayShow = process.stdout.isTTY || process.env.FORCE_COLOR !== undefined
  return mayShow && WriteStream.prototype.getColorDepth() > 1
}

/** Without a locale, as in many containers, and on Windows, terminals have more than ASCII. */
function hasUnicode(): boolean {
  const { LC_ALL, LC_CTYPE, LANG, TERM } = process.env
  if (TERM === 'dumb' && process.stdout.isTTY) return false
  return process.platform === 'win32' || /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || 'UTF-8')
}
