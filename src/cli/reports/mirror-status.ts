import { formatBytes, formatCount, plural } from '../../klines/text.js'
import type { SeriesStatus } from '../../mirror/status.js'
import { textTable } from '../terminal/table.js'
import type { Report } from './report.js'

/** `mirror status`: what is cached of each series. */
export function mirrorStatusReport(
  mirror: string,
  baseUrl: string | undefined,
  series: readonly SeriesStatus[],
): Report {
  const windows = series.reduce((sum, status) => sum + status.windows, 0)
  const bytes = series.reduce((sum, status) => sum + status.bytes, 0)
  const head = ['symbol', 'interval', 'windows', 'empty', 'first with candles', 'last with candles', 'size']
  const toRow = (status: SeriesStatus) => [
    status.symbol,
    status.interval,
    formatCount(status.windows),
    formatCount(status.empty),
    status.firstStartDate ?? '-',
    status.lastStartDate ?? '-',
    formatBytes(status.bytes),
  ]
  const text = () =>
    [
      textTable({ head, rows: series.map(toRow), right: ['windows', 'empty', 'size'] }),
      '',
      `${plural(windows, 'window')} of ${series.length} series, ${formatBytes(bytes)}, from ${baseUrl ?? 'an unknown address'}`,
      `Mirror: ${mirror}`,
    ].join('\n')
  return { json: { mirror, baseUrl: baseUrl ?? null, windows, bytes, series }, text }
}
