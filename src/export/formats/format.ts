import { KlinesError } from '../../klines/errors.js'

/** The formats of an export. */
export const FORMATS = ['csv', 'json', 'jsonl', 'parquet', 'arrow'] as const
export type Format = (typeof FORMATS)[number]

const BINARY: readonly Format[] = ['parquet', 'arrow']
const ENDINGS: Record<string, Format> = {
  csv: 'csv',
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  parquet: 'parquet',
  arrow: 'arrow',
  feather: 'arrow',
}

/** A format, and whether the file is compressed with gzip around it. */
export interface FileFormat {
  readonly format: Format
  readonly gzip: boolean
}

/** Whether a format is not text: nothing for a terminal, and not to be compressed again. */
export function isBinary(format: Format): boolean {
  return BINARY.includes(format)
}

/**
 * The format of a file: `given` wins, else the name's ending tells; `.gz` behind it compresses. `-` (stdout) is `json`.
 * Throws `bad_output` when neither tells, or when a Parquet or Arrow file is to be compressed once more.
 */
export function resolveFormat(path: string, given: Format | undefined): FileFormat {
  if (path === '-') return { format: given ?? 'json', gzip: false }
  const gzip = /\.gz$/i.test(path)
  const ending = /\.([^./\\]+)(?:\.gz)?$/i.exec(path)?.[1].toLowerCase() ?? ''
  const format = given ?? (Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined)
  if (format === undefined) {
    throw new KlinesError(
      'bad_output',
      `The name ${path} does not tell a format. Expected an ending of .csv, .json, .jsonl (also with .gz), .parquet or .arrow.`,
      {
        suggestions: [`Name the format with \`format\`: ${FORMATS.join(', ')}.`],
      },
    )
  }
  if (gzip && isBinary(format)) {
    throw new KlinesError(
      'bad_output',
      `${path}: ${format} files are compressed inside; a .gz around one would only hide it.`,
      {
        suggestions: [`Did you mean ${path.replace(/\.gz$/i, '')}?`],
      },
    )
  }
  return { format, gzip }
}
