import type { Series, WindowRef } from '../../../src/candles/series.js'
import { startDateAt, windowSpan } from '../../../src/candles/windows.js'
import type { Random } from '../random.js'
import type { Row } from '../synthetic-tree.js'
import type { Damage, DamagedMirror, Position } from './damaged-mirror.js'
import type { Question } from './questions.js'
import { FINEST } from './sound-mirror.js'

/**
 * How often a question must find a kind of damage: always, always where a longer candle or the changed candle itself tells
 * (`visible`), as a gap or better, or as it happens.
 */
export type Floor = 'always' | 'visible' | 'gap' | 'chance'

/** A kind of damage to a mirror. */
export interface DamageKind {
  readonly name: string
  /** Of the row of the table that counts it. */
  readonly row: string
  readonly floors: Readonly<Record<Question, Floor>>
  /** Damages a random place. */
  apply(mirror: DamagedMirror): Damage
}

/** Found by any question, found wherever the record tells, and found by other intervals alone. */
const BY_ANY = { all: 'always', series: 'always', range: 'always' } as const
const BY_RECORD = { all: 'always', series: 'always', range: 'always' } as const
const BY_OTHERS = { all: 'always', series: 'chance', range: 'always' } as const
const IF_VISIBLE = { all: 'visible', series: 'chance', range: 'visible' } as const
/** The same, and a gap of the series. */
const AS_GAP = { ...BY_OTHERS, series: 'gap' } as const

const COLUMNS = {
  open: 1,
  high: 2,
  low: 3,
  close: 4,
  volume: 5,
  close_time: 6,
  quote_volume: 7,
  count: 8,
  taker_buy_volume: 9,
  taker_buy_quote_volume: 10,
  ignore: 11,
} as const
type ColumnName = keyof typeof COLUMNS

type Change = (rows: Row[], random: Random, window: WindowRef) => readonly Row[]

/** A kind that changes the rows of one window. */
function rowsKind(
  row: string,
  name: string,
  floors: DamageKind['floors'],
  change: Change,
  position: Position = 'any',
): DamageKind {
  const apply = (mirror: DamagedMirror) => {
    const window = mirror.pickWindow(position)
    return mirror.edit(window, rows => change(rows, mirror.random, window))
  }
  return { name, row, floors, apply }
}

function digit(row: string, column: ColumnName, floors: DamageKind['floors']): DamageKind {
  return rowsKind(row, `one digit of ${column}`, floors, (rows, random) => {
    const index = random.below(rows.length)
    const cell = rows[index][COLUMNS[column]]
    const text = otherDigit(String(cell), random)
    return withCell(rows, index, column, typeof cell === 'number' ? Number(text) : text)
  })
}

/** A text with one digit that is another one. */
function otherDigit(text: string, random: Random): string {
  const places = [...text].flatMap((character, place) => (/\d/.test(character) ? [place] : []))
  const place = random.pick(places)
  const digit = (Number(text[place]) + 1 + random.below(9)) % 10
  return `${text.slice(0, place)}${digit}${text.slice(place + 1)}`
}

function withCell(rows: readonly Row[], index: number, column: ColumnName, value: string | number): Row[] {
  return rows.with(index, rows[index].with(COLUMNS[column], value) as unknown as Row)
}

/** The values of a candle at the times of another. */
function withTimes(row: Row, { 0: openTime, 6: closeTime }: Row): Row {
  return row.with(0, openTime).with(6, closeTime) as unknown as Row
}

/** A candle without trades at the times of another. */
function flat(times: Row, price: string): Row {
  const none = '0.00000000'
  return [times[0], price, price, price, price, none, times[6], none, 0, none, none, '0']
}

function removed(name: string, floors: DamageKind['floors'], position: Position): DamageKind {
  return { name, row: name, floors, apply: mirror => mirror.remove(mirror.pickWindow(position)) }
}

/** Writes the content of one window in place of another, which is returned as damaged. */
function copied(
  row: string,
  name: string,
  floors: DamageKind['floors'],
  copy: (rows: Row[], from: WindowRef, to: WindowRef) => Row[],
): DamageKind {
  const apply = (mirror: DamagedMirror) => {
    const series = mirror.pickSeries(mirror.intervals, 2)
    const to = mirror.pickWindow('any', series)
    const others = mirror.startDates(series).filter(date => date !== to.startDate)
    const from = { ...series, startDate: mirror.random.pick(others) }
    return mirror.edit(to, () => copy(mirror.rows(from), from, to))
  }
  return { name, row, floors, apply }
}

/** Rows of one window at the times of another, as far as they lie in it. */
function moved(rows: Row[], from: WindowRef, to: WindowRef): Row[] {
  const [start, { startTime, endTime }] = [windowSpan(from).startTime, windowSpan(to)]
  const shift = startTime - start
  return rows
    .map(row => row.with(0, row[0] + shift).with(6, row[6] + shift) as unknown as Row)
    .filter(([openTime]) => openTime < endTime)
}

function bytesKind(
  name: string,
  row: string,
  floors: DamageKind['floors'],
  change: (bytes: Buffer, random: Random) => Buffer,
): DamageKind {
  const apply = (mirror: DamagedMirror) => {
    const window = mirror.pickWindow('any')
    return mirror.overwrite(window, change(mirror.bytes(window), mirror.random))
  }
  return { name, row, floors, apply }
}

function swap(mirror: DamagedMirror, window: WindowRef): Damage {
  const other = { ...window, ...mirror.twin(window) }
  const [own, others] = [mirror.bytes(window), mirror.bytes(other)]
  mirror.overwrite(other, own)
  return mirror.overwrite(window, others)
}

/** The windows of a series for which the other symbol has one with candles, too. */
function shared(mirror: DamagedMirror, series: Series): string[] {
  const others = mirror.startDates(mirror.twin(series))
  return mirror.startDates(series).filter(date => others.includes(date))
}

const INNER = 'inner window: one row dropped inside, first row, last row, ten rows, last half, all rows'
const OLDEST = 'oldest window: first half, first row, all rows'
const NEWEST = 'newest window: last half, last row, all rows'
const SHIFTED =
  'times shifted by a candle; values shifted by a row; a row with the values of the one before; a flat row without trades'
const SWAPPED = 'one window swapped between two symbols; a whole series swapped'
const COPIED = 'a window copied to another date as it is; with its times moved'
const INVALID = "a coarser interval's window in place; bytes cut off; 512 zeros; two rows in wrong order; a row twice"
const VOLUMES = 'one digit of volume, quote_volume, count, taker_buy_volume, taker_buy_quote_volume'

/** The 41 kinds, in the order of the table in test/faults/README.md. */
export const DAMAGES: readonly DamageKind[] = [
  ...(['volume', 'quote_volume', 'count', 'taker_buy_volume', 'taker_buy_quote_volume'] as const).map(column =>
    digit(VOLUMES, column, BY_OTHERS),
  ),
  ...(['open', 'high', 'low', 'close'] as const).map(column =>
    digit('one digit of open, high, low, close', column, IF_VISIBLE),
  ),
  digit('one digit of close_time', 'close_time', IF_VISIBLE),
  digit('one digit of ignore', 'ignore', IF_VISIBLE),
  rowsKind(INNER, 'one row inside of an inner window', AS_GAP, dropInside, 'inner'),
  rowsKind(INNER, 'first row of an inner window', AS_GAP, rows => rows.slice(1), 'inner'),
  rowsKind(INNER, 'last row of an inner window', AS_GAP, rows => rows.slice(0, -1), 'inner'),
  rowsKind(INNER, 'ten rows of an inner window', AS_GAP, dropTen, 'inner'),
  rowsKind(INNER, 'last half of an inner window', AS_GAP, firstHalf, 'inner'),
  rowsKind(INNER, 'all rows of an inner window', AS_GAP, () => [], 'inner'),
  rowsKind(OLDEST, 'first half of the oldest window', BY_RECORD, lastHalf, 'oldest'),
  rowsKind(OLDEST, 'first row of the oldest window', BY_RECORD, rows => rows.slice(1), 'oldest'),
  rowsKind(OLDEST, 'all rows of the oldest window', BY_RECORD, () => [], 'oldest'),
  rowsKind(NEWEST, 'last half of the newest window', BY_RECORD, firstHalf, 'newest'),
  rowsKind(NEWEST, 'last row of the newest window', BY_RECORD, rows => rows.slice(0, -1), 'newest'),
  rowsKind(NEWEST, 'all rows of the newest window', BY_RECORD, () => [], 'newest'),
  removed('file of an inner window removed', BY_RECORD, 'inner'),
  removed('file of the newest window removed', BY_RECORD, 'newest'),
  removed('file of the oldest window removed', BY_RECORD, 'oldest'),
  {
    name: 'all files of a series removed',
    row: 'all files of a series removed',
    floors: BY_RECORD,
    apply: mirror => mirror.removeSeries(),
  },
  rowsKind(SHIFTED, 'times shifted by a candle', { ...BY_OTHERS, series: 'chance' }, rows =>
    rows.slice(0, -1).map((row, index) => withTimes(row, rows[index + 1])),
  ),
  rowsKind(SHIFTED, 'values shifted by a row', BY_OTHERS, rows =>
    rows.map((row, index) => withTimes(rows[Math.max(index - 1, 0)], row)),
  ),
  rowsKind(SHIFTED, 'a row with the values of the one before', BY_OTHERS, (rows, random) => {
    const index = 1 + random.below(rows.length - 1)
    return rows.with(index, withTimes(rows[index - 1], rows[index]))
  }),
  rowsKind(SHIFTED, 'a flat row without trades', BY_OTHERS, (rows, random) => {
    const index = 1 + random.below(rows.length - 1)
    return rows.with(index, flat(rows[index], rows[index - 1][4]))
  }),
  {
    name: 'one window swapped between two symbols',
    row: SWAPPED,
    floors: BY_OTHERS,
    apply: mirror => {
      const series = mirror.pickSeries()
      return swap(mirror, { ...series, startDate: mirror.random.pick(shared(mirror, series)) })
    },
  },
  {
    name: 'a whole series swapped between two symbols',
    row: SWAPPED,
    floors: BY_OTHERS,
    apply: mirror => {
      const series = mirror.pickSeries()
      const damages = shared(mirror, series).map(startDate => swap(mirror, { ...series, startDate }))
      return mirror.random.pick(damages)
    },
  },
  copied(COPIED, 'a window copied to another date as it is', BY_ANY, rows => rows),
  copied(COPIED, 'a window copied to another date with its times moved', BY_OTHERS, moved),
  {
    name: "a coarser interval's window in place",
    row: INVALID,
    floors: BY_ANY,
    apply: mirror => {
      const { intervals, random } = mirror
      const series = mirror.pickSeries(intervals.slice(0, -1))
      const window = mirror.pickWindow('any', series)
      const coarser = random.pick(intervals.slice(intervals.indexOf(series.interval) + 1))
      const startDate = startDateAt(coarser, mirror.rows(window)[0][0])
      return mirror.overwrite(window, mirror.bytes({ ...series, interval: coarser, startDate }))
    },
  },
  bytesKind('bytes cut off', INVALID, BY_ANY, (bytes, random) => bytes.subarray(0, random.below(bytes.length))),
  bytesKind('512 zeros', INVALID, BY_ANY, (bytes, random) =>
    Buffer.from(bytes).fill(0, ...zeroed(bytes.length, random)),
  ),
  rowsKind(INVALID, 'two rows in wrong order', BY_ANY, (rows, random) => {
    const index = random.below(rows.length - 1)
    return rows.toSpliced(index, 2, rows[index + 1], rows[index])
  }),
  rowsKind(INVALID, 'a row twice', BY_ANY, (rows, random) => {
    const index = random.below(rows.length)
    return rows.toSpliced(index, 0, rows[index])
  }),
  bytesKind('one bit', 'one bit', IF_VISIBLE, (bytes, random) => {
    const changed = Buffer.from(bytes)
    changed[random.below(bytes.length)] ^= 1 << random.below(8)
    return changed
  }),
]

function zeroed(length: number, random: Random): [start: number, end: number] {
  const start = random.below(Math.max(1, length - 512))
  return [start, Math.min(start + 512, length)]
}

function dropInside(rows: Row[], random: Random): Row[] {
  return rows.toSpliced(1 + random.below(rows.length - 2), 1)
}

function dropTen(rows: Row[], random: Random): Row[] {
  return rows.toSpliced(1 + random.below(rows.length - 11), 10)
}

function firstHalf(rows: Row[]): Row[] {
  return rows.slice(0, rows.length / 2)
}

function lastHalf(rows: Row[]): Row[] {
  return rows.slice(Math.ceil(rows.length / 2))
}

/** One unit of the last digit of a candle of the finest interval: what no sum can see is a price inside of a longer candle. */
export const FINEST_DIGITS: readonly DamageKind[] = (['open', 'high', 'low', 'close', 'volume', 'count'] as const).map(
  column => ({
    name: `${column} of the finest interval, one unit of the last digit`,
    row: column,
    floors: column === 'volume' || column === 'count' ? BY_OTHERS : IF_VISIBLE,
    apply: mirror => {
      const window = mirror.pickWindow('any', mirror.pickSeries([FINEST]))
      return mirror.edit(window, rows => {
        const index = mirror.random.below(rows.length)
        const cell = rows[index][COLUMNS[column]]
        const unit = mirror.random.pick([-1, 1])
        return withCell(rows, index, column, typeof cell === 'number' ? cell + unit : addUnit(cell, unit))
      })
    },
  }),
)

function addUnit(text: string, unit: number): string {
  const [, decimals = ''] = text.split('.')
  const digits = String(BigInt(text.replace('.', '')) + BigInt(unit)).padStart(decimals.length + 1, '0')
  return decimals === '' ? digits : `${digits.slice(0, -decimals.length)}.${digits.slice(-decimals.length)}`
}
