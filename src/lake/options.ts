import type { ExcerptRequest } from '../export/excerpt.js'
import type { ResampleRequest } from '../export/export-series.js'
import { hasZstd, isSeriesColumn, parseRowFormat, type RowFormat } from '../export/row-format.js'
import { KlinesError } from '../klines/errors.js'
import { isObject, isOneOf } from '../klines/json.js'
import { describeRange, type RangeText } from '../klines/time-range.js'
import { type Compression, type OptionOf, type OutputRequest, valuesFor } from '../options/output-options.js'
import { PARTITIONS, type Partition } from './layout.js'

/** What all parts of a lake have in common. */
export interface LakeOptions extends Pick<RowFormat, OptionOf<'parquet'>> {
  /** As `describeRange` describes it. */
  readonly range: string
  readonly resample: string | null
  readonly partial: boolean
  readonly partition: Partition
}

/**
 * The options of a lake in a request. `columns` are without `symbol` and `interval`, which the folders name. The default of `compression`
 * is that of the lake; for a new one `zstd` where Node has it (22.15 and later), else `gzip`.
 */
export interface LakeOptionsRequest extends RangeText, ResampleRequest, Pick<OutputRequest, OptionOf<'parquet'>> {
  /** Split each series into a part a year or a month. Default `none`: one part. */
  readonly partition?: Partition | undefined
}

/** The options of a request, and the row format of its parts. `lake`: the options of the lake that is there. Throws `bad_option`. */
export function parseLakeOptions(
  request: LakeOptionsRequest & ExcerptRequest,
  lake: LakeOptions | undefined,
): { options: LakeOptions; rowFormat: RowFormat } {
  const { resample = null, partial = false, partition = 'none', compression = keptCompression(lake) } = request
  // Callers without types may name options of other formats, which are refused.
  const rowFormat = parseRowFormat({ ...request, compression }, 'parquet')
  if (request.limit !== undefined || request.tail !== undefined) {
    throw new KlinesError(
      'bad_option',
      '`limit` and `tail` are for files and stdout; a lake has all candles of its range.',
    )
  }
  const named = rowFormat.columns.find(isSeriesColumn)
  if (named !== undefined) {
    const message = `\`columns\` has "${named}", which the folders of a lake name: its files must not have it.`
    throw new KlinesError('bad_option', message, { suggestions: [`Leave ${named} out; every reader adds it.`] })
  }
  if (!PARTITIONS.includes(partition))
    throw new KlinesError('bad_option', `\`partition\` is "${partition}". Expected ${PARTITIONS.join(', ')}.`)
  const range = describeRange(request)
  const { columns, numbers, ...others } = valuesFor(rowFormat, 'parquet')
  return { options: { range, columns, numbers, resample, partial, partition, ...others }, rowFormat }
}

/** Whether a value of a foreign file has the form of a lake's options. Names and texts are checked by what uses them. */
export function isLakeOptions(value: unknown): value is LakeOptions {
  if (!isObject(value)) return false
  const { range, resample, partial, partition, columns, numbers, compression } = value
  if (!isOneOf(PARTITIONS, partition)) return false
  const areTexts = [range, resample ?? '', numbers, compression].every(text => typeof text === 'string')
  return areTexts && typeof partial === 'boolean' && Array.isArray(columns)
}

/** A lake keeps its compression when a run of another Node has another default. */
function keptCompression(lake: LakeOptions | undefined): Compression | undefined {
  if (lake?.compression !== 'zstd' || hasZstd()) return lake?.compression
  const message = `The lake is compressed with zstd, which is not in Node ${process.versions.node}.`
  const suggestions = [
    "Run klines with Node 22.15 or later, or write all of the lake again with `compression: 'gzip'` and `force: true`.",
  ]
  throw new KlinesError('bad_option', message, { suggestions })
}

/** The first option in which a request differs from a lake, as messages name them; undefined when there is none. */
export function findDifference(lake: LakeOptions, request: LakeOptions): { lake: string; request: string } | undefined {
  for (const name of Object.keys(request) as (keyof LakeOptions)[]) {
    const difference = { lake: describeOption(name, lake[name]), request: describeOption(name, request[name]) }
    if (difference.lake !== difference.request) return difference
  }
  return undefined
}

function describeOption(name: keyof LakeOptions, value: LakeOptions[keyof LakeOptions]): string {
  if (value === null || value === undefined || value === false) return `no \`${name}\``
  if (name === 'range') return value === '../..' ? 'no limits of time' : `the range ${value}`
  return value === true ? `\`${name}: true\`` : `\`${name}: '${value}'\``
}
