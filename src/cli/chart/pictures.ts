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
import { checkValue } from '../../options/option.js'
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
  options: OpenOptions & { readonly resample?: string | undefined },
): Promise<{ path: string; bytes: number; candles: number }[]> {
  const labelled = loaded.charts.map(chart => {
    return { ...chart.series, interval: options.resample ?? chart.series.interval, chart }
  })
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
