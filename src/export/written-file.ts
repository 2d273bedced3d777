import type { Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { describeErrno, errnoCode } from '../fs/errno.js'
import { isSourceName, PUBLIC_BASE_URL } from '../http/base-url.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { isInterval } from '../klines/intervals.js'
import { parseObject } from '../klines/json.js'
import { findNoMemory } from '../klines/no-memory.js'
import { isSymbol } from '../klines/symbols.js'
import { quoteWord } from '../klines/text.js'
import { parseRangeDescription, type RangeText } from '../klines/time-range.js'
import { isOutputRequest, type OutputRequest, valuesFor } from '../options/output-options.js'
import { checkExcerpt } from './excerpt.js'
import { versionText } from './file-content.js'
import { type FileFacts, nameColumn, type ReadAt, readerOf } from './formats/file-facts.js'
import { type MadeSeries, parseMade } from './made-series.js'
import { parseTemplate } from './output-spec.js'
import { columnType, parseRowFormat } from './row-format.js'

/** A Parquet or Arrow file that klines wrote, and the request that its metadata remembers, with the options of its format. */
export interface WrittenRequest extends RangeText, OutputRequest {
  readonly path: string
  readonly format: 'parquet' | 'arrow'
  /** Base address of the candles; undefined when it is not known. */
  readonly source: string | undefined
  readonly made: readonly MadeSeries[]
  readonly partial: boolean
  readonly limit: number | undefined
  readonly tail: number | undefined
  /** Whether it names fingerprints. */
  readonly fingerprint: boolean
  /** Identifies the version of the file that was read. */
  readonly version: string
}

type Fields = Readonly<Record<string, unknown>>

/** Longer metadata is not read: that of all series of 3,000 symbols has 1 MB. */
const MAX_METADATA = 4 * 1024 * 1024
const MAGICS = { PAR1: 'parquet', ARRO: 'arrow' } as const

/**
 * Reads what a file says about itself; changes nothing. Throws `bad_output` unless klines wrote it, and its columns, their types and the
 * number of its rows are what its metadata says: other programs keep the metadata of a file that they change.
 */
export async function readWrittenFile(path: string): Promise<WrittenRequest> {
  let file: FileHandle | undefined
  try {
    // Opening a FIFO would wait for its writer.
    if (!(await stat(path)).isFile()) throw cannotSay(path)
    file = await open(path, 'r')
    return await readOpenFile(path, file, await file.stat())
  } catch (error) {
    if (isKlinesError(error)) throw error
    const noMemory = findNoMemory(error)
    if (noMemory) throw noMemory
    throw unusable(path, describeErrno(error))
  } finally {
    await file?.close()
  }
}

async function readOpenFile(path: string, file: FileHandle, stats: Stats): Promise<WrittenRequest> {
  const readAt = readerOf(file)
  const magic = stats.size < 4 ? '' : (await readAt(0, 4)).toString('latin1')
  const format = Object.hasOwn(MAGICS, magic) ? MAGICS[magic as keyof typeof MAGICS] : undefined
  if (format === undefined) throw cannotSay(path)
  parseTemplate(path, format)
  if (/[{}]/.test(path)) throw unusable(path, 'its name has the braces of a placeholder')
  const facts = await readFacts(format, readAt, stats.size).catch(error => {
    if (errnoCode(error) !== '' || findNoMemory(error)) throw error
    throw unusable(path, `it is no ${format} file that can be read (${error.message})`)
  })
  return { ...parseFacts(path, format, facts), version: versionText(stats) }
}

async function readFacts(format: 'parquet' | 'arrow', readAt: ReadAt, size: number): Promise<FileFacts> {
  if (format === 'parquet') return (await import('./formats/parquet/parquet-facts.js')).readParquetFacts(readAt, size)
  return (await import('./formats/arrow/arrow-facts.js')).readArrowFacts(readAt, size)
}

function parseFacts(path: string, format: 'parquet' | 'arrow', facts: FileFacts): Omit<WrittenRequest, 'version'> {
  const { metadata = '' } = facts
  const fields = metadata.length > MAX_METADATA ? undefined : parseObject(metadata)
  if (fields === undefined) throw unusable(path, 'it has no metadata of klines')
  const { request } = fields
  if (typeof request !== 'object' || request === null) {
    throw unusable(
      path,
      'it does not say how it was made: it is part of a lake, or an older version of klines wrote it',
      fields,
    )
  }
  try {
    return { path, format, ...checkFields({ ...request, ...fields }, format, facts) }
  } catch (error) {
    if (isKlinesError(error)) throw unusable(path, error.message.replace(/\.$/, ''), fields)
    throw error
  }
}

/** Throws a `KlinesError` for fields that cannot be, and where the file is not as they say. */
function checkFields(fields: Fields, format: 'parquet' | 'arrow', facts: FileFacts) {
  const { source, range, series, partial, rows, version, fingerprint } = fields
  const [limit, tail] = [fields.limit, fields.tail].map(count => (count === undefined ? undefined : Number(count)))
  checkExcerpt({ limit, tail })
  const [, tool] = /^klines (.{1,100})$/.exec(String(version)) ?? []
  const changed = (what: string) => new KlinesError('bad_output', `${what}: another program has changed it`)
  if (tool === undefined || !facts.isWrittenBy(tool)) throw changed('klines did not write it as it is')
  const isList = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every(one => typeof one === 'string')
  if (
    !isOutputRequest(fields, format) ||
    !isList(series) ||
    series.length === 0 ||
    new Set(series).size < series.length
  )
    throw new KlinesError('bad_output', 'its metadata has another form')
  if (!isSourceName(source) || typeof range !== 'string')
    throw new KlinesError('bad_output', 'its metadata names no source or no range')
  const options = valuesFor(fields, format)
  const { columns, numbers } = parseRowFormat(options, format)
  const expected = columns.map(name => nameColumn(name, columnType(name, numbers)))
  if (String(facts.columns) !== String(expected)) throw changed('its columns are not those of its metadata')
  if (facts.rows !== rows) throw changed(`it has ${facts.rows} rows, and its metadata says ${String(rows)}`)
  return {
    source: source === 'unknown' ? undefined : source,
    ...parseRangeDescription(range),
    made: series.map(text => {
      const [symbol, interval, of = interval] = text.split(' ')
      return parseMade(symbol, interval, of)
    }),
    partial: partial === true,
    ...{ limit, tail },
    ...{ ...options, columns },
    fingerprint: typeof fingerprint === 'string',
  }
}

function unusable(path: string, reason: string, fields: Fields = {}): KlinesError {
  return new KlinesError('bad_output', `${path} cannot be updated: ${reason}.`, {
    suggestions: [`This makes it anew: ${commandFor(path, fields)}`],
    data: { output: path },
  })
}

/** For a file that has no place for what it is. */
function cannotSay(path: string): KlinesError {
  const message = `${path} cannot be updated: only lakes and Parquet and Arrow files of klines say how they were made.`
  return new KlinesError('bad_output', message, {
    suggestions: [`This makes it anew: ${commandFor(path, {})}`],
    data: { output: path },
  })
}

/** The command that makes a file anew, as far as its metadata says what it was made with: people copy it. */
export function commandFor(path: string, { symbol, interval, range, source }: Fields): string {
  const symbols = String(symbol).split(',')
  const intervals = String(interval).split(',')
  const named = (names: string[], isName: (name: string) => boolean, other: string) =>
    names.every(isName) ? names.map(quoteWord) : [other]
  const words = [
    ...named(symbols, isSymbol, 'SYMBOL'),
    ...['-i', named(intervals, isInterval, 'INTERVAL').join(',')],
    ...(isSourceName(source) && ![PUBLIC_BASE_URL, 'unknown'].includes(source)
      ? ['--base-url', quoteWord(source)]
      : []),
    ...rangeWords(range),
  ]
  return `klines download ${words.join(' ')} -o ${quoteWord(path)} --force`
}

function rangeWords(range: unknown): string[] {
  try {
    const named = Object.entries(parseRangeDescription(String(range)))
    return named.map(([name, text]) => `--${name} ${quoteWord(text)}`)
  } catch {
    return []
  }
}
