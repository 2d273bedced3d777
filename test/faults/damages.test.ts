import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import type { Row } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const VERIFY = ['verify', 'all', '-i', 'all', '--mirror', 'm']
const ROW = 100

/** Sandboxes with a mirror of two symbols in three intervals, which agree. */
const soundSandbox = usePreparedSandboxes(newSandbox, async sandbox => {
  const from = EXCHANGE_NOW - (EXCHANGE_NOW % 86_400_000) - 50 * 86_400_000
  const exchange = await ExchangeServer.start(madeMarket({ AAAUSDT: { from }, BBBUSDT: { from: from - 5_400_000 } }))
  const source = [
    '--base-url',
    `binance:${exchange.url}`,
    '--mirror',
    'm',
    '-q',
    '--from',
    new Date(from).toISOString(),
  ]
  sandbox.now = EXCHANGE_NOW
  expect(await sandbox.call(['download', 'AAAUSDT', 'BBBUSDT', '-i', '15m,30m,1h', ...source])).toMatchObject({
    code: 0,
    stderr: '',
  })
  expect((await sandbox.call(VERIFY)).stdout).toMatch(/^OK: 6 series/)
})

/** An inner window of 30m of a symbol. */
function inner(mirror: string, symbol = 'AAAUSDT'): string {
  const folder = join(mirror, 'api/klines/30m/AAAUSDT')
  const dates = readdirSync(folder).filter(name => readFileSync(join(folder, name)).length > 2)
  return join(mirror, 'api/klines/30m', symbol, dates.sort()[1])
}

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
const FILES: readonly [string, (file: string, mirror: string) => void][] = [
  ['another symbol', (file, mirror) => cpSync(inner(mirror, 'BBBUSDT'), file)],
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

describe('F77 an inner window with', () => {
  it.each(DAMAGES)('%s is found by the index, and without it by the other intervals or the file', async (_, damage) => {
    const sandbox = await soundSandbox()
    sandbox.now = EXCHANGE_NOW
    const mirror = sandbox.path('m')
    damage(inner(mirror), mirror)
    expect(await sandbox.call(VERIFY)).toMatchObject({ code: 6, stdout: expect.stringMatching(/^FAILED: /) })
    rmSync(join(mirror, '.klines'), { recursive: true })
    expect(await sandbox.call(VERIFY)).toMatchObject({ code: 6, stdout: expect.stringMatching(/^FAILED: /) })
  })
})

it('F77 an inner window that is gone is named', async () => {
  const sandbox = await soundSandbox()
  sandbox.now = EXCHANGE_NOW
  const file = inner(sandbox.path('m'))
  rmSync(file)
  const { code, stdout } = await sandbox.call(VERIFY)
  expect(code).toBe(3)
  expect(stdout).toContain(file.slice(dirname(file).length + 1, -5))
})
