import type { FittedCandles } from '../../chart/chart-candle.js'
import { drawFrame } from '../../chart/terminal/frame.js'
import { MIN_WIDTH } from '../../chart/terminal/layout.js'
import { parseSelectionText } from '../../download/selection.js'
import { SAMPLE } from '../../http/base-url.js'
import type { RunContext } from '../base-command.js'
import type { ChartRequest } from '../chart/candle-loader.js'
import { type ChartRoom, type LoadedCharts, loadCharts, terminalRoom } from '../chart/load-charts.js'
import { drawPictures, parsePictures, pictureRoom } from '../chart/pictures.js'
import { chartHeight, chartStyle, chartWidth } from '../chart/screen.js'
import type { ChartFlags } from '../flags/chart.js'
import { toFetchOptions } from '../flags/service.js'
import { chartObject } from '../reports/chart.js'
import { coverageText } from '../reports/coverage.js'
import type { Report } from '../reports/report.js'
import { SYNTHETIC } from '../reports/run-text.js'
import type { ChartObject } from '../reports/schema.js'
import { resolveRange } from '../resolve-flags.js'
import { downloadingFrom } from '../service-address.js'
import { NO_PROGRESS, ProgressDisplay } from '../terminal/progress.js'

/**
 * `chart`: downloads what is missing unless `offline`, and draws it. Returns the object of `--json`; undefined when the charts went
 * to stdout.
 */
export async function runChart(
  symbols: string[],
  flags: ChartFlags,
  context: RunContext,
): Promise<Report<ChartObject> | undefined> {
  const pictures = parsePictures(flags, context.given)
  const request = toRequest(symbols, flags, context)
  const loaded = await loadFirst(request, pictures ? pictureRoom(pictures) : terminalRoom(chartSize(flags)), context)
  if (!pictures) warnAboutWidth(flags, context)
  const { loader, charts } = loaded
  await loader.close()
  if (pictures) return await drawPictures(loaded, pictures, { ...flags, ...context })
  if (flags.json) return { json: chartObject(charts, loader), text: () => '' }
  const lines = drawAll(charts, flags)
  const { baseUrl } = loader.source.info
  const short = coverageText(loader.coverage, { range: loader.range, baseUrl, verbose: false })
  if (short !== undefined) lines.push('', short)
  if (baseUrl === SAMPLE) lines.push('', SYNTHETIC)
  // The texts are drawn from names and decimals that were checked; ANSI codes must reach the terminal.
  process.stdout.write(`${lines.join('\n')}\n`)
  return undefined
}

async function loadFirst(request: ChartRequest, room: ChartRoom, context: RunContext): Promise<LoadedCharts> {
  const { progressStyle, warn } = context
  // Reading a mirror takes no time that is worth a line.
  const style = request.offline ? NO_PROGRESS : progressStyle
  const loaded = await ProgressDisplay.during(style, downloadingFrom(request.baseUrl), ({ events }) => {
    const onEvent = events(warn)
    return loadCharts({ ...request, onEvent }, room, { onEvent })
  })
  if (loaded.failure !== undefined) warn(`${loaded.failure} Drawing what is cached.`)
  return loaded
}

function warnAboutWidth(flags: ChartFlags, { warn }: RunContext): void {
  const width = chartWidth(flags)
  if (width < MIN_WIDTH) warn(`The terminal has ${width} columns; a chart needs ${MIN_WIDTH}.`)
}

function drawAll(charts: readonly FittedCandles[], flags: ChartFlags): string[] {
  const options = { ...chartStyle(flags), ...chartSize(flags), height: chartHeight(flags) }
  return charts.flatMap((chart, index) => [...(index === 0 ? [] : ['']), ...drawFrame(chart, options)])
}

function chartSize(flags: ChartFlags) {
  return { width: chartWidth(flags), log: flags.log }
}

function toRequest(symbols: string[], flags: ChartFlags, { signal, given }: RunContext): ChartRequest {
  const { interval, mirror, resample, offline, 'base-url': baseUrl } = flags
  const range = resolveRange(flags, given)
  const fetching = { baseUrl, mirror, ...toFetchOptions(flags), signal }
  return { ...parseSelectionText(symbols, interval), ...range, ...fetching, resample, offline }
}
