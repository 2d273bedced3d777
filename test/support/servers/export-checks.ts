import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Interval } from '../../../src/candles/intervals.js'
import { type ExportRequest, exportKlines } from '../../../src/engine/export.js'
import { NOW } from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'

/** What the library exports from a mirror without a server; the extension chooses the format. */
export async function exportedFile(
  mirror: string,
  [symbol, interval, extension]: readonly [string, string, string],
  options: Partial<ExportRequest> = {},
): Promise<Buffer> {
  const output = join(tempFolder(), `file.${extension}`)
  const series = { symbols: [symbol], intervals: [interval as Interval] }
  await exportKlines({ ...series, mirror, offline: true, now: NOW, ...options, output })
  return readFileSync(output)
}
