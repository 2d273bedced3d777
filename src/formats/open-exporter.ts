import type { Format } from '../options/formats.js'
import type { Exporter, ExporterOptions } from './exporter.js'

/** The exporter of a format. Its module is loaded only now, because those of Arrow and Parquet are large. */
export async function openExporter(format: Format, options: ExporterOptions): Promise<Exporter> {
  if (format === 'parquet') return new (await import('./parquet/parquet.js')).ParquetExporter(options)
  if (format === 'arrow') return new (await import('./arrow/arrow.js')).ArrowExporter(options)
  const { CSV, JSON_LINES, JSON_ROWS, TextExporter } = await import('./text.js')
  return new TextExporter(options, { csv: CSV, json: JSON_ROWS, jsonl: JSON_LINES }[format])
}
