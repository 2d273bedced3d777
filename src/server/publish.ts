import { KlinesError } from '../candles/errors.js'
import type { Interval } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { openRun, type SourceOptions, withRun } from '../engine/run.js'
import { API_SPECS } from '../greeting/client.js'
import { type PublishReport, publishTree } from '../mirror/publish.js'
import { openMirror } from '../mirror/user-mirrors.js'
import { request } from '../sources/errors.js'
import { describeApi } from './openapi.js'
import { ServedMirror } from './served-mirror.js'
import { Tree } from './tree.js'

/**
 * Makes a mirror a complete static tree, which any web host can serve: the lists, its OpenAPI document, `[]` for windows of the future and
 * before the first candle, and the times of files as the server would say. Throws `incomplete`, with nothing written, unless all is there.
 */
export async function publishMirror(options: Omit<SourceOptions, 'refresh'>): Promise<PublishReport> {
  const { source: baseUrl, root, exists } = openMirror(options)
  if (baseUrl === undefined && exists) {
    const message = `${root} does not say where its candles come from, so it cannot be published.`
    const advice = 'klines download with the same --mirror and its --base-url makes it a mirror of that service.'
    throw new KlinesError('mirror_mismatch', message, { suggestions: [advice] })
  }
  return withRun(openRun({ ...options, mirror: root, baseUrl }), run => {
    const { source, signal, warn } = run
    const { firstCandle } = source
    const ask = firstCandle && ((series: Series) => request(source, 'the first candle', firstCandle(series, signal)))
    const tree = new Tree(new ServedMirror(root, source.name, warn), undefined, run.now, warn)
    // Relative to its own address, wherever the tree will be.
    const describe = (intervals: readonly Interval[]) => {
      return { path: API_SPECS.klines, content: describeApi('klines', tree, '..', intervals) }
    }
    return publishTree({ ...run, describe, baseUrl: source.name, firstCandle: ask })
  })
}
