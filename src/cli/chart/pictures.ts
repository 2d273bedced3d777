import { gzipSync } from 'node:zlib'
import { KlinesError } from '../../candles/errors.js'
import { drawSvg, SAMPLE_NOTE } from '../../chart/svg/draw-svg.js'
import {
  DEFAULT_PICTURE,
  maxCandles,
  PICTURE_HEIGHTS,
  PICTURE_WIDTHS,
  type PictureOptions,
} from '../../chart/svg/layout.js'
import { type FileOptions, writeFiles } from '../../engine/output-file.js'
import { checkOutputs, parseTemplate, planOutputs } from '../../engine/output-names.js'
import { checkValue } from '../../options.js'
import { SAMPLE } from '../../sources/base-url.js'
import { refuse } from '../command.js'
import type { ChartRoom, LoadedCharts } from './load-charts.js'

/** The sides of a chart in the terminal, in characters, and of a picture, in pixels. */
const TERMINAL = { width: { min: 40, max: 1000 }, height: { min: 12, max: 200 } }
const PICTURE = { width: PICTURE_WIDTHS, height: PICTURE_HEIGHTS }
const SIDES = ['width', 'height'] as const

/** The flags that say what is drawn. */
interface PictureFlags {
  readonly output?: string | undefined
  readonly format?: string | undefined
  readonly theme?: PictureOptions['theme'] | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly log: boolean
  readonly json: boolean | undefined
}

/** Pictures to draw instead of charts in the terminal. */
export interface PictureJob {
  /** A path with placeholders, or `-` for stdout. */
  readonly template: string
  readonly gzip: boolean
  readonly picture: PictureOptions
}

/**
 * What `-o` and `-f` request; undefined for charts in the terminal. `given`: the flags on the command line; the width and height of a
 * default are characters. Throws `bad_option` for flags that do not fit, and `bad_output` for another format than svg.
 */
export function parsePictures(flags: PictureFlags, given: ReadonlySet<string>): PictureJob | undefined {
  const template = flags.output ?? (given.has('format') ? '-' : undefined)
  const isPicture = template !== undefined
  for (const side of SIDES) {
    const [unit, range] = isPicture ? ['pixels', PICTURE[side]] : ['characters', TERMINAL[side]]
    if (given.has(side) || !isPicture) checkValue(side, { takes: 'number', unit, range }, flags[side])
  }
  if (isPicture && given.has('ascii')) throw refuse('--ascii is for a terminal, and -o draws a picture.')
  if (!isPicture && given.has('theme')) throw refuse('--theme is for a picture, and none is named with -o.')
  if (!isPicture) return undefined
  if (template !== '-' && flags.format === undefined && !/\.svg(\.gz)?$/i.test(template)) {
    const message = `A chart is drawn as svg, not as ${template}. Expected a name that ends with .svg.`
    throw new KlinesError('bad_output', message, { suggestions: ['klines export writes the candles themselves.'] })
  }
  if (flags.json && template === '-')
    throw refuse('--json prints an object on stdout, where the picture goes. Expected one of them.')
  const side = (name: 'width' | 'height') => (given.has(name) && flags[name]) || DEFAULT_PICTURE[name]
  const { theme = DEFAULT_PICTURE.theme, log } = flags
  // A text, as JSON is.
  const { gzip } = parseTemplate(template, 'json')
  return { template, gzip, picture: { theme, log, width: side('width'), height: side('height') } }
}

/** The width of a picture says how many candles it has room for. */
export function pictureRoom({ picture }: PictureJob): ChartRoom {
  return { candles: maxCandles(picture), besideLabels: () => Number.POSITIVE_INFINITY }
}

/** Draws a picture of each series and puts all of them in their places. Throws what `planOutputs` and `checkOutputs` throw. */
export async function drawPictures(
  loaded: LoadedCharts,
  { template, gzip, picture }: PictureJob,
  options: FileOptions & { readonly signal?: AbortSignal | undefined } & { readonly resample?: string | undefined },
): Promise<{ path: string; bytes: number; candles: number }[]> {
  const labelled = loaded.charts.map(chart => {
    return { ...chart.series, interval: options.resample ?? chart.series.interval, chart }
  })
  const targets = planOutputs(template, { format: 'svg', gzip }, labelled)
  await checkOutputs(targets, options)
  const note = loaded.baseUrl === SAMPLE ? SAMPLE_NOTE : undefined
  const files = targets.map(({ path, series: [{ chart }] }) => {
    const svg = Buffer.from(drawSvg(chart, picture, note) ?? '')
    return { path, bytes: gzip ? gzipSync(svg) : svg, candles: chart.candles }
  })
  await writeFiles(files, options)
  return files.map(({ path, bytes, candles }) => ({ path, bytes: bytes.length, candles }))
}
