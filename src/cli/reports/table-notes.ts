import { plural } from '../../klines/text.js'
import { coverageText } from './coverage.js'
import { sum } from './report.js'
import type { RunResult } from './run-text.js'

/** What is said below the tables of an export: what they leave out (`omitted`), and what the whole range lacks, shown or not. */
export function tableNotes(omitted: string, { series, range, baseUrl }: RunResult): string {
  const [missing, gaps] = [sum(series.map(report => report.missing)), sum(series.map(report => report.gaps))]
  const coverage = coverageText(series, { range, baseUrl, verbose: false }) ?? ''
  const lacking = missing === 0 ? '' : `${plural(missing, 'candle')} missing in ${plural(gaps, 'gap')} of the range.`
  return [omitted, lacking, coverage].filter(text => text !== '').join('\n')
}
