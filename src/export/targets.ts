import { KlinesError } from '../klines/errors.js'
import type { SeriesLabel } from '../klines/series.js'
import { type FileFormat, type Format, resolveFormat } from './formats/format.js'

/** One file of an export and the series that go into it, in order. */
export interface Target extends FileFormat {
  /** A path, or `-` for stdout. */
  readonly path: string
  readonly series: readonly SeriesLabel[]
}

const PLACEHOLDERS = ['symbol', 'interval'] as const

/** The same check for a template alone, before anything is asked of anybody. Throws `bad_output`. */
export function checkTemplate(template: string, format: Format | undefined): void {
  for (const [whole, name] of template.matchAll(/\{([^{}]*)\}/g)) {
    if ((PLACEHOLDERS as readonly string[]).includes(name)) continue
    throw new KlinesError('bad_output', `Unknown placeholder ${whole} in ${template}. Expected {symbol} or {interval}.`)
  }
  resolveFormat(template, format)
}

/**
 * The files that `-o` means: `{symbol}` and `{interval}` are filled in, and series whose names come out the same share a
 * file. Throws `bad_output`, also when several series are to share a `json` file, whose rows cannot tell them apart.
 */
export function planTargets(template: string, format: Format | undefined, series: readonly SeriesLabel[]): Target[] {
  checkTemplate(template, format)
  const paths = new Map<string, SeriesLabel[]>()
  for (const one of series) {
    const path = template.replaceAll('{symbol}', one.symbol).replaceAll('{interval}', one.interval)
    paths.set(path, [...(paths.get(path) ?? []), one])
  }
  return [...paths].map(([path, of]) => {
    const target = { path, series: of, ...resolveFormat(path, format) }
    if (target.format === 'json' && of.length > 1) {
      throw new KlinesError(
        'bad_output',
        `json is an array of rows that do not say their series, and ${of.length} series would share ${path === '-' ? 'stdout' : path}.`,
        {
          suggestions: [
            "Write a file a series with {symbol} and {interval} in `output`, or use `format: 'jsonl'` or `format: 'csv'`, which name the series.",
          ],
        },
      )
    }
    return target
  })
}
