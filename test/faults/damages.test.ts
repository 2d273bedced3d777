import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import type { Row } from '../support/synthetic-tree.js'

const sandbox = useSandboxes()()
/** Equal mirrors of two symbols in two intervals, which agree; the second has lost its index. */
const [MIRROR, BARE] = ['m', 'bare'].map(name => sandbox.path(name))
const ROW = 100
const LISTED = Date.parse('2026-04-05')
const verify = (mirror: string) => verifyKlines({ symbols: ['AAAUSDT'], intervals: 'all', mirror, now: EXCHANGE_NOW })

beforeAll(async () => {
  const until = '2026-04-21'
  const market = madeMarket({ AAAUSDT: { from: LISTED, until }, BBBUSDT: { from: LISTED - 5_400_000, until } })
  const exchange = await ExchangeServer.open(market)
  await downloadKlines({
    ...{ symbols: ['AAAUSDT', 'BBBUSDT'], intervals: ['15m', '30m'], from: LISTED, now: EXCHANGE_NOW },
    ...{ baseUrl: `binance:${exchange.url}`, mirror: MIRROR },
  })
  await exchange.stop()
  cpSync(MIRROR, BARE, { recursive: true })
  rmSync(join(BARE, '.klines'), { recursive: true })
  for (const mirror of [MIRROR, BARE]) expect((await verify(mirror)).verdict).toBe('ok')
})

/** An inner window of 30m. */
function inner(mirror: string): string {
  const folder = join(mirror, 'api/klines/30m/AAAUSDT')
  const dates = readdirSync(folder).filter(name => readFileSync(join(folder, name)).length > 2)
  return join(folder, dates.sort()[1])
}

/** The same window of the other symbol. */
const otherSymbol = (file: string) => file.replace('AAAUSDT', 'BBBUSDT')

const withCell = (rows: Row[], row: number, column: number, value: string | number) =>
  rows.with(row, rows[row].with(column, value) as unknown as Row)
/** A cell with another last digit. */
function otherDigit(cell: string | number): string | number {
  const text = String(cell)
  const other = `${text.slice(0, -1)}${(Number(text.at(-1)) + 9) % 10}`
  return typeof cell === 'number' ? Number(other) : other
}
/** The values of a candle at the times of another. */
const withTimes = (row: Row, { 0: openTime, 6: closeTime }: Row) =>
  row.with(0, openTime).with(6, closeTime) as unknown as Row
const flat = ([openTime, , , , , , closeTime]: Row, price: string): Row => {
  const none = '0.00000000'
  return [openTime, price, price, price, price, none, closeTime, none, 0, none, none, '0']
}

const ROWS: readonly [string, (rows: Row[]) => Row[]][] = [
  ...COLUMNS.slice(1).map((name, index): [string, (rows: Row[]) => Row[]] => [
    `another digit of ${name}`,
    rows => withCell(rows, ROW, index + 1, otherDigit(rows[ROW][index + 1])),
  ]),
  ['a row dropped inside', rows => rows.toSpliced(ROW, 1)],
  ['the first row dropped', rows => rows.slice(1)],
  ['the last half dropped', rows => rows.slice(0, rows.length / 2)],
  ['no rows', () => []],
  ['times shifted by a candle', rows => rows.slice(0, -1).map((row, index) => withTimes(row, rows[index + 1]))],
  ['values shifted by a row', rows => rows.map((row, index) => withTimes(rows[Math.max(index - 1, 0)], row))],
  ['a row with the values of the one before', rows => rows.with(ROW, withTimes(rows[ROW - 1], rows[ROW]))],
  ['a flat row without trades', rows => rows.with(ROW, flat(rows[ROW], rows[ROW - 1][4]))],
  ['two rows in wrong order', rows => rows.toSpliced(ROW, 2, rows[ROW + 1], rows[ROW])],
  [
    'rows of a longer interval',
    rows => rows.filter((_, row) => row % 2 === 0).map(row => row.with(6, row[6] + 1_800_000) as unknown as Row),
  ],
  ['a row twice', rows => rows.toSpliced(ROW, 0, rows[ROW])],
]
const FILES: readonly [string, (file: string) => void][] = [
  ['another symbol', file => cpSync(otherSymbol(file), file)],
  ['bytes cut off', file => writeFileSync(file, readFileSync(file).subarray(0, 5_000))],
  ['512 zeros', file => writeFileSync(file, readFileSync(file).fill(0, 5_000, 5_512))],
]
const DAMAGES: typeof FILES = [
  ...ROWS.map(([name, change]): (typeof FILES)[number] => [
    name,
    file => writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8'))))),
  ]),
  ...FILES,
]

/** What `verify` says of a mirror while its window is damaged. */
async function whileDamaged(mirror: string, damage: (file: string) => void) {
  const file = inner(mirror)
  const sound = readFileSync(file)
  damage(file)
  const found = await verify(mirror)
  writeFileSync(file, sound)
  return found
}

describe('F77 an inner window with', () => {
  it.each(DAMAGES)('%s is found by the other intervals or the file, without an index', async (_, damage) => {
    expect((await whileDamaged(BARE, damage)).verdict).toBe('failed')
  })

  it.each(DAMAGES.filter(([name]) => /ignore|no rows|another symbol/.test(name)))(
    '%s is named by the index',
    async (_, damage) => {
      const { verdict, series } = await whileDamaged(MIRROR, damage)
      const startDate = basename(inner(MIRROR), '.json')
      const corrupt = [{ startDate, reason: expect.stringContaining('not as it was downloaded') }]
      expect([verdict, series.flatMap(one => one.corrupt)]).toEqual(['failed', corrupt])
    },
  )
})

it('F77 an inner window that is gone is named', async () => {
  const file = inner(MIRROR)
  renameSync(file, `${file}.lost`)
  sandbox.now = EXCHANGE_NOW
  const { code, stdout } = await sandbox.call(['verify', 'all', '-i', 'all', '--mirror', 'm'])
  renameSync(`${file}.lost`, file)
  expect(code).toBe(3)
  expect(stdout).toContain(basename(file, '.json'))
})
