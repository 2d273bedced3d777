import type { Exporter } from './exporter.js'
import type { Format } from './format.js'

/** The exporter of a format. Loaded when asked for: Arrow and Parquet are heavy. */
export async function openExporter(format: Format): Promise<Exporter> {
  if (format === 'csv') return (await import('./csv.js')).csv
  if (format === 'json') return (await import('./json.js')).json
  if (format === 'jsonl') return (await import('./json.js')).jsonl
  if (format === 'arrow') return (await import('./arrow.js')).arrow
  return (await import('./parquet.js')).parquet
}
