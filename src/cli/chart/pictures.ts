import { KlinesError } from '../../candles/errors.js'
import { drawSvg, SAMPLE_NOTE } from '../../chart/svg/draw-svg.js'
import {
  DEFAULT_PICTURE,
  maxCandles,
  PICTURE_HEIGHTS,
  PICTURE_WIDTHS,
  type PictureOptions,
} from '../../chart/svg/layout.js'
import { commitOutputs } from '../../engine/output/commit.js'
import { type OpenOptions, openOutput } from '../../engine/output/open.js'
import type { Output } from '../../engine/output/output.js'
import { checkOutputs, parseTemplate, planOutputs } from '../../engine/output/output-spec.js'
import { formatOfName } from '../../options/formats.js'
import { SAMPLE } from '../../sources/base-url.js'
import type { ChartRoom, LoadedCharts } from './load-charts.js'

/** The largest chart of a terminal, in characters: pictures are larger. */
const MAX_COLUMNS = 1000
const MAX_ROWS = 200

/** The flags that say what is drawn. */
interface PictureFlags {
  readonly output?: string | undefined
  readonly format?: string | undefined
  readonly theme?: PictureOptions['theme'] | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly log: boolean
  readonly ascii: boolean
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
  if (template === undefined) return checkTerminal(flags, given)
  if (template !== '-' && flags.format === undefined && !/\.svg(\.gz)?$/i.test(template)) {
    const format = formatOfName(template)
    const reason = format ? `is ${format}` : 'has no known extension'
    const message = `A chart is drawn as svg, and ${template} ${reason}. Expected a name that ends with .svg.`
    throw new KlinesError('bad_output', message, { suggestions: ['klines export writes the candles themselves.'] })
  }
  if (flags.ascii && given.has('ascii')) throw refuse('--ascii is for a terminal, and -o draws a picture.')
  if (flags.json && template === '-') throw refuse('--json prints an object on stdout, where the picture goes.')
  const { theme = DEFAULT_PICTURE.theme, log } = flags
  const side = (name: 'width' | 'height', { min, max }: typeof PICTURE_WIDTHS) => {
    const pixels = (given.has(name) ? flags[name] : undefined) ?? DEFAULT_PICTURE[name]
    if (pixels >= min) return pixels
    throw refuse(`--${name} is ${pixels}. Expected a whole number of pixels from ${min} to ${max}.`)
  }
  const sides = { width: side('width', PICTURE_WIDTHS), height: side('height', PICTURE_HEIGHTS) }
  // A text, as JSON is.
  const { gzip } = parseTemplate(template, 'json')
  return { template, gzip, picture: { theme, ...sides, log } }
}

/** The width of a picture says how many candles it has room for. */
export function pictureRoom({ picture }: PictureJob): ChartRoom {
  return { candles: maxCandles(picture), besideLabels: () => Number.POSITIVE_INFINITY }
}

/** What drawing needs beside the candles. */
interface DrawOptions extends OpenOptions {
  readonly resample?: string | undefined
}

/**
 * Draws a picture of each series and puts all of them in their places. Returns the files. Throws what `planOutputs` and
 * `checkOutputs` throw.
 */
export async function drawPictures(
  loaded: LoadedCharts,
  { template, gzip, picture }: PictureJob,
  options: DrawOptions,
): Promise<{ path: string; bytes: number; candles: number }[]> {
  const labelled = loaded.charts.map(chart => ({
    ...chart.series,
    interval: options.resample ?? chart.series.interval,
    chart,
  }))
  const targets = planOutputs(template, { format: 'svg', gzip }, labelled)
  await checkOutputs(targets, options)
  const note = loaded.baseUrl === SAMPLE ? SAMPLE_NOTE : undefined
  const outputs: Output[] = []
  try {
    for (const { path, series } of targets) {
      const output = await openOutput(path, gzip, options)
      outputs.push(output)
      await output.write(new TextEncoder().encode(drawSvg(series[0].chart, picture, note)))
      await output.finish()
    }
    await commitOutputs(outputs)
  } catch (error) {
    for (const output of outputs.toReversed()) await output.discard()
    throw error
  }
  return outputs.map(({ path, bytes }, index) => ({ path, bytes, candles: targets[index].series[0].chart.candles }))
}

function checkTerminal({ width = 0, height = 0 }: PictureFlags, given: ReadonlySet<string>): undefined {
  if (given.has('theme')) throw refuse('--theme is for a picture, and none is named with -o.')
  if (width > MAX_COLUMNS) throw refuse(`--width is ${width} columns. Expected ${MAX_COLUMNS} at the most.`)
  if (height > MAX_ROWS) throw refuse(`--height is ${height} rows. Expected ${MAX_ROWS} at the most.`)
}

function refuse(message: string): KlinesError {
  return new KlinesError('bad_option', message)
}
