import { KlinesError } from '../candles/errors.js'

export const TEXT_FORMATS = ['csv', 'json', 'jsonl'] as const
export const BINARY_FORMATS = ['parquet', 'arrow'] as const
/** The formats of an export. */
export const FORMATS = [...TEXT_FORMATS, ...BINARY_FORMATS] as const

/** One of `FORMATS`. */
export type Format = (typeof FORMATS)[number]

/** What names of files end in. */
const EXTENSIONS: Readonly<Record<Format, readonly string[]>> = {
  csv: ['csv'],
  json: ['json'],
  jsonl: ['jsonl', 'ndjson'],
  parquet: ['parquet'],
  arrow: ['arrow', 'feather'],
}

/** A format, and whether the file is compressed with gzip. */
export interface FileFormat {
  readonly format: Format
  readonly gzip: boolean
}

/** Whether a format is not text: unfit for a terminal, and compressed inside. */
export function isBinary(format: Format): boolean {
  return (BINARY_FORMATS as readonly Format[]).includes(format)
}

/** The format that the extension of a file's name stands for, also before `.gz`; undefined for another one. */
export function formatOfName(path: string): Format | undefined {
  const extension = /\.([^./\\]+)(?:\.gz)?$/i.exec(path)?.[1].toLowerCase() ?? ''
  return FORMATS.find(format => EXTENSIONS[format].includes(extension))
}

/** What names of files end in: `.csv, .json (also with .gz), .parquet or .arrow`. */
export function describeExtensions(): string {
  const names = (binary: boolean) => FORMATS.filter(one => isBinary(one) === binary).map(one => `.${one}`)
  return `${names(false).join(', ')} (also with .gz), ${names(true).join(' or ')}`
}

/**
 * The format of a file: `given`, else from the extension of its name; a further `.gz` compresses. `-` (stdout) is `json`.
 * Throws `bad_output` without either, and for a Parquet or Arrow file that would be compressed once more.
 */
export function resolveFormat(path: string, given: Format | undefined): FileFormat {
  if (path === '-') return { format: given ?? 'json', gzip: false }
  const gzip = /\.gz$/i.test(path)
  const format = given ?? formatOfName(path)
  if (format === undefined) {
    throw new KlinesError('bad_output', `The name ${path} has no known extension. Expected ${describeExtensions()}.`, {
      suggestions: [
        /\.svg(\.gz)?$/i.test(path)
          ? 'Pictures are drawn by klines chart -o.'
          : `Name the format with -f: ${FORMATS.join(', ')}.`,
      ],
    })
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
