import { COLUMN_KINDS, COLUMNS } from '../../candles/columns.js'
import { type SeriesLabel, seriesName } from '../../candles/series.js'
import { showValue } from '../../candles/text.js'
import { BatchBuilder, type KlineBatch } from '../../rows/kline-batch.js'
import { badInput, damagedInput, doublesError } from './errors.js'
import { parseLabel, type RawRow, type RawTable } from './raw-table.js'

const NEEDED = COLUMNS.slice(0, -1)
const [CLOSE_TIME, COUNT] = (['close_time', 'count'] as const).map(name => COLUMNS.indexOf(name))

/** Times since the epoch from 2001 to 2286: ms, us, and seconds with three decimals where there are ms. */
const [MILLISECONDS, MICROSECONDS, SECONDS] = [/^\d{13}$/, /^\d{13}000$/, /^\d{10}(\.\d{1,3})?$/]
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

const KINDS = {
  time: { expected: 'a time: ms (13 digits), us (16), s (10) or ISO 8601 in UTC', parse: parseTime },
  count: { expected: 'a number of trades', parse: parseCount },
  decimal: {
    expected: 'a decimal such as 0.00100000',
    parse: (text: string) => (/^\d+(\.\d+)?$/.test(text) ? text : undefined),
  },
}

function parseTime(text: string): number | undefined {
  if (MILLISECONDS.test(text)) return Number(text)
  if (MICROSECONDS.test(text)) return Number(text.slice(0, -3))
  if (SECONDS.test(text)) return Math.round(1000 * Number(text))
  const time = ISO.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

function parseCount(text: string): number | undefined {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(count) ? count : undefined
}

/** The open times of the last candles of series, by their names, ms UTC. */
export type LastTimes = Map<string, number>

/** Turns the rows of a file into candles. Its errors name the file, the row and the cell. */
export class CandleRows {
  private row = 0
  private readonly columns: number
  /** Where the cells of a candle are in a row. */
  private readonly places: readonly number[]
  private readonly symbol: number
  private readonly interval: number
  private readonly series = new Map<string, { readonly name: string; readonly builder: BatchBuilder }>()

  /**
   * `named`: the series of a file whose rows do not name theirs, or which they must have. `last`: of the files before this one.
   * Throws for columns that are missing, are there twice, or are doubles.
   */
  constructor(
    private readonly file: string,
    { columns, doubles = [] }: RawTable,
    private readonly named: SeriesLabel | undefined,
    private readonly last: LastTimes,
  ) {
    const missing = NEEDED.filter(name => !columns.includes(name))
    if (missing.length > 0) {
      const suggestions = [`A fingerprint needs ${NEEDED.join(', ')}, in any order: write the file without --columns.`]
      throw badInput({ file }, `it lacks the columns ${missing.join(', ')}`, suggestions)
    }
    const twice = columns.find((name, index) => columns.indexOf(name) !== index)
    if (twice !== undefined) throw damagedInput({ file, cell: twice }, 'the column is there twice')
    const inexact = NEEDED.find(name => doubles.includes(name))
    if (inexact !== undefined) throw doublesError({ file, cell: inexact })
    this.columns = columns.length
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
    if (row.length !== columns) {
      throw damagedInput({ file, row: this.row }, `it has ${row.length} cells, expected ${columns}`)
    }
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
      const reason = `expected a symbol and an interval, got ${showValue(symbol)} and ${showValue(interval)}`
      throw damagedInput({ file, row: this.row }, reason)
    }
    const name = seriesName(label)
    if (named && seriesName(named) !== name) {
      throw badInput({ file, row: this.row }, `it is of ${name}, expected ${seriesName(named)}`)
    }
    const series = { name, builder: new BatchBuilder(label) }
    this.series.set(key, series)
    return series
  }

  private readCell(cell: unknown, column: number): number | string {
    const kind = COLUMN_KINDS[column] as keyof typeof KINDS
    const place = { file: this.file, row: this.row, cell: NEEDED[column] }
    if (kind === 'decimal' && typeof cell === 'number') throw doublesError(place)
    const { expected, parse } = KINDS[kind]
    const isText = typeof cell === 'string' || (kind !== 'decimal' && ['number', 'bigint'].includes(typeof cell))
    const value = isText ? parse(String(cell)) : undefined
    if (value === undefined) throw damagedInput(place, `expected ${expected}, got ${showValue(cell)}`)
    return value
  }

  private checkOrder(name: string, openTime: number): void {
    const before = this.last.get(name) ?? -Infinity
    if (openTime > before) return
    const [time, other] = [openTime, before].map(ms => new Date(ms).toISOString())
    const suggestions = [`Expected the candles of ${name} in order of time, each once.`]
    throw badInput(
      { file: this.file, row: this.row, cell: 'open_time' },
      `${time} does not come after ${other}`,
      suggestions,
    )
  }
}
