import { type FollowRequest, openFollow } from '../../engine/follow.js'
import { parseRowFormat, withSeriesColumns } from '../../formats/row-format.js'
import { openTextExporter } from '../../formats/text.js'
import type { OutputRequest } from '../../options.js'

/** Where candles go as they close, and how many at the most. */
export interface FollowOutputRequest extends FollowRequest, OutputRequest {
  readonly format: 'csv' | 'jsonl'
  readonly candles?: number | undefined
}

/**
 * Follows candles, and passes on their lines as they come: of each series the bytes of an export of its range. Ends after `candles` of
 * them; throws what `openFollow` throws.
 */
export async function writeFollowed(
  request: FollowOutputRequest,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const rowFormat = parseRowFormat(request, request.format)
  const { series, batches } = await openFollow(request)
  const columns = series.length > 1 ? withSeriesColumns(rowFormat.columns) : rowFormat.columns
  const exporter = openTextExporter(request.format, { rowFormat: { ...rowFormat, columns }, emit: write })
  let left = request.candles ?? Infinity
  for await (const batch of batches) {
    const rows = batch.length > left ? batch.slice(-Infinity, batch.openTime(left)) : batch
    await exporter.write(rows)
    await exporter.flush()
    left -= rows.length
    if (left === 0) return
  }
}
