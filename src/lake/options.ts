import { KlinesError } from '../candles/errors.js'
import { describeRange, type RangeText } from '../candles/time-range.js'
import { isSeriesColumn, parseRowFormat, type RowFormat } from '../formats/row-format.js'
import { type OptionOf, type OutputRequest, valuesFor } from '../options/output-options.js'
import { PARTITIONS, type Partition } from './layout.js'

/** What all parts of a lake have in common. Plain data, as the manifest has it. */
export interface LakeOptions extends Pick<RowFormat, OptionOf<'parquet'>> {
  /** As `describeRange` describes it. */
  readonly range: string
  readonly resample: string | null
  readonly partial: boolean
  readonly partition: Partition
}

/** The options of a lake in a request. `columns` are without `symbol` and `interval`, which the folders name. */
export interface LakeOptionsRequest extends RangeText, Pick<OutputRequest, OptionOf<'parquet'>> {
  readonly resample?: string | undefined
  readonly partial?: boolean | undefined
  readonly limit?: number | undefined
  readonly tail?: number | undefined
  /** Split each series into a part a year or a month. Default `none`: one part. */
  readonly partition?: Partition | undefined
}

/** The options of a request, and the row format of its parts. Throws `bad_option`. */
export function parseLakeOptions(request: LakeOptionsRequest): { options: LakeOptions; rowFormat: RowFormat } {
  const { resample = null, partial = false, partition = 'none', limit, tail } = request
  // Callers without types may name options of other formats, which are refused.
  const rowFormat = parseRowFormat(request, 'parquet')
  if (limit !== undefined || tail !== undefined) {
    const message = '--limit and --tail are for files and stdout; a lake has all candles of its range.'
    throw new KlinesError('bad_option', message)
  }
  const named = rowFormat.columns.find(isSeriesColumn)
  if (named !== undefined) {
    const message = `--columns has "${named}", which the folders of a lake name: its files must not have it.`
    throw new KlinesError('bad_option', message, { suggestions: [`Leave ${named} out; every reader adds it.`] })
  }
  if (!PARTITIONS.includes(partition))
    throw new KlinesError('bad_option', `--partition is "${partition}". Expected ${PARTITIONS.join(', ')}.`)
  const content = valuesFor(rowFormat, 'parquet')
  return { options: { range: describeRange(request), ...content, resample, partial, partition }, rowFormat }
}

/**
 * The first option in which a request differs from a lake, as messages name them; undefined when there is none. Parts of one lake may be
 * compressed in different ways.
 */
export function findDifference(lake: LakeOptions, request: LakeOptions): { lake: string; request: string } | undefined {
  for (const name of Object.keys(request) as (keyof LakeOptions)[]) {
    if (name === 'compression') continue
    const difference = { lake: describeOption(name, lake[name]), request: describeOption(name, request[name]) }
    if (difference.lake !== difference.request) return difference
  }
  return undefined
}

function describeOption(name: keyof LakeOptions, value: LakeOptions[keyof LakeOptions]): string {
  if (name === 'range') return value === '../..' ? 'no limits of time' : `the range ${value}`
  if (value === null || value === undefined || value === false) return `no --${name}`
  return value === true ? `--${name}` : `--${name} ${value}`
}
