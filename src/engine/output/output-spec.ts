import { KlinesError } from '../../candles/errors.js'
import { isOneOf } from '../../candles/json.js'
import type { SeriesLabel } from '../../candles/series.js'
import { splitSymbol } from '../../candles/symbols.js'
import { type FileFormat, type Format, resolveFormat } from '../../options/formats.js'
import { checkTarget, type FileOptions } from './file.js'

/** One file of an export and the series that go into it, in order. */
export interface OutputSpec<S extends SeriesLabel> extends FileFormat {
  /** A path, or `-` for stdout. */
  readonly path: string
  readonly series: readonly S[]
}

const PLACEHOLDERS = ['symbol', 'base', 'quote', 'interval'] as const

/** The path of the file of a series. Throws `bad_output` for a symbol of which no quote is known where the template needs it. */
function fillIn(template: string, { symbol, interval }: SeriesLabel): string {
  const path = template.replaceAll('{symbol}', symbol).replaceAll('{interval}', interval)
  if (!/\{(base|quote)\}/.test(path)) return path
  const parts = splitSymbol(symbol)
  if (parts === undefined) {
    const message = `${symbol} ends in no quote that is known, which {base} and {quote} in ${template} need.`
    throw new KlinesError('bad_output', message, { suggestions: ['Use {symbol} in -o.'] })
  }
  return path.replaceAll('{base}', parts.base).replaceAll('{quote}', parts.quote)
}

/** Checks a template, and returns the format of its files: placeholders do not change it. Throws `bad_output`. */
export function parseTemplate(template: string, format: Format | undefined): FileFormat {
  for (const [whole, name] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (isOneOf(PLACEHOLDERS, name)) continue
    throw new KlinesError(
      'bad_output',
      `Unknown placeholder ${whole} in ${template}. Expected {symbol}, {base}, {quote} or {interval}.`,
    )
  }
  return resolveFormat(template, format)
}

/**
 * The files of a template: its placeholders are filled in, and series with the same name share a file. Throws
 * `bad_output`, also when several series would share a `json` file, whose rows do not name them, or a picture.
 */
export function planOutputs<S extends SeriesLabel, F extends Format | 'svg'>(
  template: string,
  format: { readonly format: F; readonly gzip: boolean },
  all: readonly S[],
) {
  const paths = new Map<string, S[]>()
  for (const series of all) {
    const path = fillIn(template, series)
    paths.set(path, [...(paths.get(path) ?? []), series])
  }
  return [...paths].map(([path, series]) => {
    if (series.length > 1) checkShared(path, format.format, series.length)
    return { path, series, ...format }
  })
}

/** Throws `bad_output` for a format that has no place for several series. */
function checkShared(path: string, format: Format | 'svg', count: number): void {
  const shared = `and ${count} series would share ${path === '-' ? 'stdout' : path}.`
  const advice = 'Write a file a series with {symbol} and {interval} in -o'
  if (format === 'svg') {
    throw new KlinesError('bad_output', `A picture shows one series, ${shared}`, { suggestions: [`${advice}.`] })
  }
  if (format !== 'json') return
  throw new KlinesError('bad_output', `json is an array of rows that do not say their series, ${shared}`, {
    suggestions: [`${advice}, or use -f jsonl or -f csv, which name the series.`],
  })
}

/**
 * Checks that every output can be written and is a file of its own on any disk, before any work is done for it. Throws `bad_output`, and
 * what `checkTarget` throws.
 */
export async function checkOutputs(outputs: readonly { readonly path: string }[], options: FileOptions): Promise<void> {
  const paths = outputs.map(({ path }) => path).filter(path => path !== '-')
  const seen = new Map<string, string>()
  for (const path of paths) {
    const key = path.normalize('NFC').toLowerCase()
    const other = seen.get(key)
    if (other !== undefined) throw sameFile(other, path)
    seen.set(key, path)
  }
  for (const path of paths) await checkTarget(path, options)
}

function sameFile(path: string, other: string): KlinesError {
  const message = `${path} and ${other} differ only in case or Unicode form: on some disks they are the same file.`
  return new KlinesError('bad_output', message, {
    suggestions: ['Give each an export with an -o of its own.'],
    data: { outputs: [path, other] },
  })
}
