import { KlinesError } from '../candles/errors.js'
import { isOneOf } from '../candles/json.js'
import type { SeriesLabel } from '../candles/series.js'
import { splitSymbol } from '../candles/symbols.js'
import { isStdout } from '../fs/links.js'
import { type FileFormat, type Format, resolveFormat } from '../options.js'
import { checkTarget } from './output-file.js'

const PLACEHOLDERS = ['symbol', 'base', 'quote', 'interval'] as const

export function parseTemplate(template: string, format: Format | undefined): FileFormat {
  for (const [whole, name] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (isOneOf(PLACEHOLDERS, name)) continue
    const expected = 'Expected {symbol}, {base}, {quote} or {interval}.'
    throw new KlinesError('bad_output', `Unknown placeholder ${whole} in ${template}. ${expected}`)
  }
  return resolveFormat(template, format)
}

/** The files of a template, `-` for each name of stdout; series with the same name share one. Throws `bad_output`. */
export function planOutputs<S extends SeriesLabel | { readonly label: SeriesLabel }, F extends Format | 'svg'>(
  template: string,
  format: { readonly format: F; readonly gzip: boolean },
  all: readonly S[],
) {
  const paths = new Map<string, S[]>()
  for (const series of all) {
    const name = fillIn(template, 'label' in series ? series.label : series)
    const path = isStdout(name) ? '-' : name
    paths.set(path, [...(paths.get(path) ?? []), series])
  }
  return [...paths].map(([path, series]) => {
    if (series.length > 1) checkShared(path, format.format, series.length)
    return { path, series, ...format }
  })
}

function fillIn(template: string, { symbol, interval }: SeriesLabel): string {
  const path = template.replaceAll('{symbol}', symbol).replaceAll('{interval}', interval)
  if (!/\{(base|quote)\}/.test(path)) return path
  const parts = splitSymbol(symbol)
  // The day of a delivery stays with the quote: BTC_USDT_261225.
  if (parts) return path.replaceAll('{base}', parts.base).replaceAll('{quote}', symbol.slice(parts.base.length))
  const message = `${symbol} ends in no quote that is known, which {base} and {quote} in ${template} need.`
  throw new KlinesError('bad_output', message, { suggestions: ['Use {symbol} in -o.'] })
}

function checkShared(path: string, format: Format | 'svg', count: number): void {
  if (format !== 'svg' && format !== 'json') return
  const isJson = format === 'json'
  const reason = isJson ? 'json is an array of rows that do not say their series,' : 'A picture shows one series,'
  const message = `${reason} and ${count} series would share ${path === '-' ? 'stdout' : path}.`
  const more = isJson ? ', or use -f jsonl or -f csv, which name the series' : ''
  const advice = `Write a file a series with {symbol} and {interval} in -o${more}.`
  throw new KlinesError('bad_output', message, { suggestions: [advice] })
}

/** Checks that every output can be written and is a file of its own on any disk. Throws `bad_output`. */
export async function checkOutputs(outputs: readonly { readonly path: string; readonly format?: string }[]) {
  const seen = new Map<string, string>()
  for (const { path, format } of outputs.filter(({ path }) => path !== '-')) {
    const key = path.normalize('NFC').toLowerCase()
    const other = seen.get(key)
    if (other !== undefined) {
      const message = `${other} and ${path} differ only in case or Unicode form: on some disks they are the same file.`
      const suggestions = ['Give each an export with an -o of its own.']
      throw new KlinesError('bad_output', message, { suggestions, data: { outputs: [other, path] } })
    }
    seen.set(key, path)
    await checkTarget(path, format)
  }
}
