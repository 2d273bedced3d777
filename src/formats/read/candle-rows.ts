import { COLUMN_KINDS, COLUMNS } from '../../candles/columns.js'
import { type SeriesLabel, seriesName } from '../../candles/series.js'
import { showValue } from '../../candles/text.js'
import { timeOfDate } from '../../candles/windows.js'
import { SERIES_COLUMNS } from '../../options.js'
import { BatchBuilder, type KlineBatch } from '../../rows/kline-batch.js'
import { badInput, damagedInput } from './errors.js'
import { parseLabel, type RawRow, type RawTable } from './raw-table.js'

const NEEDED = COLUMNS.slice(0, -1)
const [CLOSE_TIME, COUNT] = (['close_time', 'count'] as const).map(name => COLUMNS.indexOf(name))

/** A column of another program, such as `Quote asset volume`, by its name without case, separators and added words. */
const toKey = (name: string) =>
  name
    .replace(/[^a-z]/gi, '')
    .toLowerCase()
    .replace(/asset|base|numberof/g, '')
const NAMES = new Map([...SERIES_COLUMNS, ...COLUMNS].map(name => [toKey(name), name]))
NAMES.set('trades', 'count')

/** Times since the epoch from 2001 to 2286. What follows the ms is zeros, or nines: of a close time that ends in the middle of it. */
const INTEGER = /^(\d{13})(0*|9*)(?:\.0+)?$/
const SECONDS = /^(\d{10})(?:\.(\d{1,3})(?:0*|9*))?$/
/** A day, or a day and a clock, in UTC unless it has an offset. */
const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(?:\.(\d{1,3})(?:0*|9*))? ?(?:Z|UTC|([+-]\d{2}):?(\d{2})?)?)?$/

const KINDS = {
  time: {
    expected: 'a time: ms (13 digits), us (16), ns (19), s (10) or ISO 8601 such as 2025-01-01 00:59:59.999, in UTC',
    parse: parseTime,
  },
  count: { expected: 'a number of trades', parse: parseCount },
  decimal: {
    expected: 'a decimal such as 0.00100000',
    parse: (text: string) => (/^\d+(\.\d+)?$/.test(text) ? text : undefined),
  },
}

/** A time in ms UTC; finer ones are the millisecond that holds them. A close time is written to the second at least. */
export function parseTime(text: string, column?: number): number | undefined {
  const [, integer, rest = ''] = INTEGER.exec(text) ?? []
  if (integer) return [0, 3, 6].includes(rest.length) ? Number(integer) : undefined
  const [, seconds, decimals = ''] = SECONDS.exec(text) ?? []
  if (seconds) return Number(seconds + decimals.padEnd(3, '0'))
  const [, date = '', clock = '00:00', second, fraction = '', hours = '+00', minutes = '00'] = ISO.exec(text) ?? []
  if (timeOfDate(date) === undefined || (column === CLOSE_TIME && second === undefined)) return undefined
  const time = Date.parse(`${date}T${clock}${second ?? ':00'}.${fraction.padEnd(3, '0')}${hours}:${minutes}`)
  return Number.isNaN(time) ? undefined : time
}

function parseCount(text: string): number | undefined {
  const count = /^\d+(\.0+)?$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(count) ? count : undefined
}

/** Turns the rows of a file into candles. Its errors name the file, the row and the cell. */
export class CandleRows {
  private row = 0
  private readonly columns: number
  /** For a row that another program may have written. */
  private readonly wrong: typeof badInput
  /** Where the cells of a candle are in a row. */
  private readonly places: readonly number[]
  private readonly symbol: number
  private readonly interval: number
  private readonly series = new Map<string, { readonly name: string; readonly builder: BatchBuilder }>()
  /** The open times of the last candles of series, by their names, ms UTC. */
  private readonly last = new Map<string, number>()

  /** `named`: the series of a file whose rows do not name theirs. Throws for columns that are missing or there twice. */
  constructor(
    private readonly file: string,
    { columns: names, isForeign }: RawTable,
    private readonly named: SeriesLabel | undefined,
  ) {
    const columns = names.map(name => {
      const ours = NAMES.get(toKey(name))
      return ours === undefined || names.includes(ours) ? name : ours
    })
    const missing = NEEDED.filter(name => !columns.includes(name))
    if (missing.length > 0) {
      const needed = `A fingerprint needs ${NEEDED.join(', ')}, in any order: klines writes them without --columns.`
      const found = `it lacks the columns ${missing.join(', ')}; its first line has ${names.slice(0, 20).map(showValue).join(', ')}`
      throw badInput({ file }, found, [needed])
    }
    const twice = columns.find((name, index) => columns.indexOf(name) !== index)
    if (twice !== undefined) throw badInput({ file, cell: twice }, 'the column is there twice')
    this.columns = columns.length
    this.wrong = isForeign || names.some(name => NAMES.get(toKey(name)) !== name) ? badInput : damagedInput
    this.places = NEEDED.map(name => columns.indexOf(name))
    this.symbol = columns.indexOf('symbol')
    this.interval = columns.indexOf('interval')
  }

  /** The candles of the next rows: a batch for each series. */
  read(rows: readonly RawRow[]): KlineBatch[] {
    for (const row of rows) this.add(row)
    return [...this.series.values()].flatMap(({ builder }) => builder.take() ?? [])
  }

  private add(row: RawRow): void {
    this.row++
    const { file, columns } = this
    if (row.length !== columns)
      throw this.wrong({ file, row: this.row }, `it has ${row.length} cells, expected ${columns}`)
    const { name, builder } = this.findSeries(row)
    const cells = this.places.map((place, column) => this.readCell(row[place], column))
    const openTime = Number(cells[0])
    this.checkOrder(name, openTime)
    this.last.set(name, openTime)
    builder.add([...cells.map(String), '0'], [openTime, Number(cells[CLOSE_TIME]), Number(cells[COUNT])])
  }

  private findSeries(row: RawRow) {
    const { file, named } = this
    const symbol = this.symbol === -1 ? named?.symbol : row[this.symbol]
    const interval = this.interval === -1 ? named?.interval : row[this.interval]
    const key = `${symbol} ${interval}`
    const known = this.series.get(key)
    if (known) return known
    const label = parseLabel(symbol, interval)
    if (label === undefined) {
      const reason = `expected a symbol and an interval such as BTCUSDT and 1h, got ${showValue(symbol)} and ${showValue(interval)}`
      throw badInput({ file, row: this.row }, reason)
    }
    const series = { name: seriesName(label), builder: new BatchBuilder(label) }
    this.series.set(key, series)
    return series
  }

  private readCell(cell: unknown, column: number): number | string {
    const kind = COLUMN_KINDS[column] as keyof typeof KINDS
    const place = { file: this.file, row: this.row, cell: NEEDED[column] }
    if (kind === 'decimal' && typeof cell === 'number') {
      const advice = 'Write Parquet or Arrow with --numbers decimal, or CSV or JSON with prices as text.'
      throw badInput(place, 'it is a double, which may not hold all digits of a candle', [advice])
    }
    const { expected, parse } = KINDS[kind]
    const isText = typeof cell === 'string' || (kind !== 'decimal' && ['number', 'bigint'].includes(typeof cell))
    const value = isText ? parse(String(cell).trim(), column) : undefined
    if (value === undefined) throw badInput(place, `expected ${expected}, got ${showValue(cell)}`)
    return value
  }

  private checkOrder(name: string, openTime: number): void {
    const before = this.last.get(name) ?? -Infinity
    if (openTime > before) return
    const [time, other] = [openTime, before].map(ms => new Date(ms).toISOString())
    const place = { file: this.file, row: this.row, cell: 'open_time' }
    const suggestions = [`Expected the candles of ${name} in order of time, each once.`]
    throw badInput(place, `${time} does not come after ${other}`, suggestions)
  }
}
