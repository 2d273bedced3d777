import { openMirror, openMirrorSource } from '../../download/open-source.js'
import { mirrorStatus } from '../../mirror/status.js'
import { offlineEndpoint } from '../endpoint.js'
import { formatBytes, formatCount, plural, textTable } from '../terminal/text.js'
import type { ListReport } from './catalogue.js'

interface PlaceFlags {
  'base-url'?: string | undefined
  mirror?: string | undefined
}

/** `mirror path`: the folder that the flags mean, there or not. */
export function mirrorPath(flags: PlaceFlags): string {
  return openMirror({ baseUrl: offlineEndpoint(flags['base-url']).baseUrl, mirror: flags.mirror }).root
}

/** `mirror status`: what is held of each series. Throws `window_missing` when there is no mirror. */
export function mirrorReport(flags: PlaceFlags): ListReport {
  const options = { baseUrl: offlineEndpoint(flags['base-url']).baseUrl, mirror: flags.mirror }
  const { baseUrl } = openMirrorSource(options)
  const mirror = openMirror(options)
  const series = mirrorStatus(mirror)
  const sum = (of: (one: (typeof series)[number]) => number) => series.reduce((total, one) => total + of(one), 0)
  const [windows, bytes] = [sum(one => one.windows), sum(one => one.bytes)]
  return {
    json: { mirror: mirror.root, baseUrl: baseUrl ?? null, windows, bytes, series },
    text: () =>
      [
        textTable(
          ['symbol', 'interval', 'windows', 'empty', 'first with candles', 'last with candles', 'size'],
          series.map(one => [
            one.symbol,
            one.interval,
            formatCount(one.windows),
            formatCount(one.empty),
            one.firstStartDate ?? '-',
            one.lastStartDate ?? '-',
            formatBytes(one.bytes),
          ]),
          ['windows', 'empty', 'size'],
        ),
        '',
        `${plural(windows, 'window')} of ${series.length} series, ${formatBytes(bytes)}, from ${baseUrl ?? 'an unknown address (no mirror.json)'}`,
        `Mirror: ${mirror.root}`,
      ].join('\n'),
  }
}
