import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../../src/candles/columns.js'
import { archiveSetup, datesBetween } from '../../support/archive/archive-setup.js'
import { makeZip, type ZipMember } from '../../support/archive/make-zip.js'
import { cases } from '../../support/cases.js'
import type { ExchangeRequest } from '../../support/exchange/exchange-request.js'
import { madeMarket } from '../../support/exchange/made-market.js'
import type { Market } from '../../support/exchange/market.js'
import { aggregateOracle } from '../../support/oracles/resample-oracle.js'
import { type ArchiveServer, inMicroseconds, toCsv } from '../../support/servers/archive-server.js'
import { closedPort } from '../../support/servers/closed-port.js'
import type { Answer } from '../../support/servers/scripted-server.js'

const DAY = 86_400_000
/** The fewest days for which the archive is asked. */
const [FROM, TO] = ['2024-02-01', '2024-02-16']
const NAME = 'BTCUSDT-5m-2024-02'
const ALL = datesBetween(FROM, TO)
const SPANS = { from: '2024-01-30T04:00Z', until: '2024-02-17T00:00Z', minutes: true }
const MADE = madeMarket({ BTCUSDT: SPANS, ETHUSDT: SPANS })
/** Without a trade: the sums of its hour are those of the hour without it. */
const QUIET = Date.parse('2024-02-07T12:00Z')

/** Candles of 5m, one without trades, and the hours that they add up to. */
const ROWS = (MADE.rows('BTCUSDT', '5m') as KlineRow[]).map((row, index, all): KlineRow => {
  if (row[0] !== QUIET) return row
  const [price, zero] = [all[index - 1][4], '0.00000000']
  return [QUIET, price, price, price, price, zero, row[6], zero, 0, zero, zero, '0']
})
const HOURS = Array.from({ length: ROWS.length / 12 }, (_, hour) => {
  const rows = ROWS.slice(12 * hour, 12 * (hour + 1))
  return aggregateOracle(rows[0][0], rows) as KlineRow
})
const marketOf = (hours: KlineRow[]): Market =>
  madeMarket({ BTCUSDT: { rows: { '5m': ROWS, '1h': hours }, until: SPANS.until } })
const MARKET = marketOf(HOURS)

const timeOf = (line: string) => Number(line.slice(0, 13))
const isOf = (date: string) => (line: string) => timeOf(line) - (timeOf(line) % DAY) === Date.parse(date)
/** Changes a cell of the row that opens at a time. */
const withCell = (time: string, column: number, change: (cell: string) => string) => (lines: string[]) =>
  lines.map(line => {
    if (timeOf(line) !== Date.parse(time)) return line
    return line
      .split(',')
      .with(column, change(line.split(',')[column]))
      .join(',')
  })
/** Cells of two rows that change places. */
const exchanged = (time: string, other: string, columns: number[]) => (lines: string[]) => {
  const [row, otherRow] = [time, other].map(text => lines.findIndex(line => timeOf(line) === Date.parse(text)))
  return exchangeCells(lines, row, otherRow, columns)
}
function exchangeCells(lines: string[], row: number, other: number, columns: readonly number[]): string[] {
  const [mine, others] = [lines[row].split(','), lines[other].split(',')]
  const take = (cells: string[], from: string[]) =>
    cells.map((cell, at) => (columns.includes(at) ? from[at] : cell)).join(',')
  return lines.with(row, take(mine, others)).with(other, take(others, mine))
}
const lineAt = (lines: string[], time: string) => lines.find(line => timeOf(line) === Date.parse(time)) as string
const edit = (change: (lines: string[]) => string[]) => (archive: ArchiveServer) => archive.edits.set(NAME, change)
const put = (zip: Buffer | undefined) => (archive: ArchiveServer) => archive.zips.set(NAME, zip)
const lines = ROWS.filter(row => row[0] >= Date.parse(FROM) && row[0] < Date.parse(TO)).map(row => row.join(','))
const member = (more: Partial<ZipMember> = {}) => ({ name: `${NAME}.csv`, content: toCsv(lines), ...more })
const ZIP = makeZip(member())
/** A zip with one bit of its data changed: the type of the first block. */
const FLIPPED = Buffer.from(ZIP)
FLIPPED[30 + `${NAME}.csv`.length] ^= 4

/** What is wrong, and which days the exchange must give, with which reason. */
const CASES: [string, (archive: ArchiveServer) => void, string[], RegExp?][] = [
  ['nothing', put(ZIP), []],
  ['no zip of a month', put(undefined), ALL, /^the archive has no zip of it$/],
  ['a flipped bit', put(FLIPPED), ALL, /^the zip is damaged: /],
  ['a wrong CRC', put(makeZip(member({ crc: 1 }))), ALL, /^the zip is damaged: its CRC is wrong$/],
  ['a cut zip', put(ZIP.subarray(0, 5_000)), ALL, /^the zip is damaged: /],
  ['a zip of nothing', put(makeZip()), ALL, /^the zip has 0 files$/],
  ['two members', put(makeZip(member(), member())), ALL, /^the zip has 2 files$/],
  [
    'another name',
    put(makeZip(member({ name: 'a.csv' }))),
    ALL,
    /^the zip has another file than BTCUSDT-5m-2024-02.csv$/,
  ],
  ['a ../ member', put(makeZip(member({ name: `../${NAME}.csv` }))), ALL, /^the zip is damaged: invalid relative path/],
  ['a bomb', put(makeZip(member({ content: Buffer.alloc(40e6) }))), ALL, /^the zip unpacks to 40000000 bytes$/],
  [
    'a bomb that hides',
    put(makeZip(member({ content: Buffer.alloc(40e6), size: 100 }))),
    ALL,
    /^the zip is damaged: too many bytes/,
  ],
  [
    'a name with an escape',
    put(makeZip(member({ name: '../\u001b[2J' }))),
    ALL,
    /^the zip is damaged: invalid relative path: \.\.\/ \[2J$/,
  ],
  ['an encrypted zip', put(makeZip(member({ isEncrypted: true }))), ALL, /^the zip is encrypted$/],
  ['no zip at all', put(Buffer.from('<html>sign in</html>')), ALL, /^the answer is no zip$/],
  ['a header row', edit(all => ['open_time,open,high,low,close,volume,close_time', ...all]), []],
  ['CRLF', edit(all => all.map(line => `${line}\r`)), []],
  ['ms and µs mixed', edit(all => all.map((line, index) => (index % 3 ? line : inMicroseconds(line)))), []],
  ['another twelfth cell', edit(all => all.map(line => `${line.slice(0, -1)}10779.83873125`)), []],
  [
    'a day short',
    edit(all => all.filter(line => !isOf('2024-02-03')(line) || timeOf(line) % DAY < 7 * 3_600_000)),
    ['2024-02-03'],
    /^no whole candle opens at 2024-02-03 07:00 UTC$/,
  ],
  ['a month short', edit(all => all.slice(0, 288 * 7)), ALL.slice(7), /^the zip has no row of it$/],
  [
    'a candle lost that had no trade',
    edit(all => all.filter(line => timeOf(line) !== QUIET)),
    ['2024-02-07'],
    /^no whole candle opens at 2024-02-07 12:00 UTC$/,
  ],
  [
    'doubled rows',
    edit(all => all.flatMap(line => (isOf('2024-02-09')(line) ? [line, line] : [line]))),
    ['2024-02-09'],
    /^row \d+, element 0 \(open_time\): .* does not come after the row before/,
  ],
  [
    'rows in another order',
    edit(all => all.toReversed()),
    ALL,
    /^row \d+, element 0 \(open_time\): .* does not come after the row before/,
  ],
  [
    'a stale volume',
    edit(withCell('2024-02-11T10:05Z', 5, cell => cell.replace(/^\d+/, whole => String(Number(whole) + 1)))),
    ['2024-02-11'],
    /^volume of the hour at 10:00 UTC is not that of its 1h candle$/,
  ],
  [
    'an open above its high',
    edit(withCell('2024-02-11T10:05Z', 1, () => '50.50000000')),
    ['2024-02-11'],
    /^row 121: open 50.50000000 is above high \S+$/,
  ],
  [
    'a low above its open, in an inner row',
    edit(withCell('2024-02-11T10:25Z', 3, () => '50.50000000')),
    ['2024-02-11'],
    /^row 125: low 50.50000000 is above open \S+$/,
  ],
  [
    'volumes that change places with those of a row of the same hour, and their quote volumes do not',
    edit(exchanged('2024-02-11T10:05Z', '2024-02-11T10:10Z', [5, 9])),
    ['2024-02-11'],
    /^row 121: quote_volume \S+ is (above high|below low) \S+ x volume \S+$/,
  ],
  [
    'volumes that change places within a day',
    edit(exchanged('2024-02-11T10:05Z', '2024-02-11T11:10Z', [5, 7, 9, 10])),
    ['2024-02-11'],
    /^row \d+: quote_volume|^volume of the hour at 10:00 UTC is not that of its 1h candle$/,
  ],
  [
    'counts that change places within a day',
    edit(exchanged('2024-02-11T10:05Z', '2024-02-11T11:10Z', [8])),
    ['2024-02-11'],
    /^count of the hour at 10:00 UTC is not that of its 1h candle$/,
  ],
  [
    'whole candles that change places within a day',
    edit(exchanged('2024-02-11T10:05Z', '2024-02-11T23:55Z', [1, 2, 3, 4, 5, 7, 8, 9, 10])),
    ['2024-02-11'],
    /^(volume|high|low) of the hour at 10:00 UTC is not that of its 1h candle$/,
  ],
  [
    'a line without an end',
    put(makeZip(member({ content: Buffer.alloc(30e6, '7') }))),
    ALL,
    /^line 1 of the file is longer than 4096 bytes$/,
  ],
  [
    'a line of commas behind good ones',
    put(makeZip(member({ content: `${toCsv(lines.slice(0, 500))}${','.repeat(5_000)}\n` }))),
    ALL,
    /^line 501 of the file is longer than 4096 bytes$/,
  ],
  [
    'a stale count',
    edit(withCell('2024-02-11T10:05Z', 8, count => String(Number(count) + 1))),
    ['2024-02-11'],
    /^count of the hour at 10:00 UTC is not that of its 1h candle$/,
  ],
  [
    'a volume without trades',
    edit(withCell('2024-02-07T12:00Z', 5, () => '5.00000000')),
    ['2024-02-07'],
    /^row 144: count is 0, but volume is 5.00000000$/,
  ],
  [
    'a lower low',
    edit(withCell('2024-02-11T10:05Z', 3, () => '0.01000000')),
    ['2024-02-11'],
    /^low of the hour at 10:00 UTC is not that of its 1h candle$/,
  ],
  [
    'a last close',
    edit(withCell('2024-02-11T23:55Z', 4, () => '44.44000000')),
    ['2024-02-11'],
    /^close of the hour at 23:00 UTC is not that of its 1h candle$/,
  ],
  [
    'fewer decimals',
    edit(withCell('2024-02-11T10:05Z', 4, cell => cell.slice(0, -2))),
    ['2024-02-11'],
    /^close of row 121 is not written as the exchange does$/,
  ],
  [
    'a leading zero',
    edit(withCell('2024-02-11T10:05Z', 4, cell => `0${cell}`)),
    ['2024-02-11'],
    /^close of row 121 is not written/,
  ],
  [
    'an escape',
    edit(withCell('2024-02-11T10:05Z', 4, cell => `\\u003${cell}`)),
    ['2024-02-11'],
    /^a row is not written as the exchange does$/,
  ],
  [
    'an early close',
    edit(withCell('2024-02-11T10:05Z', 6, cell => String(Number(cell) - 1))),
    ['2024-02-11'],
    /^no whole candle opens at 2024-02-11 10:05 UTC$/,
  ],
  [
    'eleven cells',
    edit(all => all.map(line => (isOf('2024-02-12')(line) ? line.slice(0, -2) : line))),
    ['2024-02-12'],
    /^row 0: expected 12 elements, got 0$/,
  ],
  ['a line of text', edit(all => all.with(700, 'sorry')), ALL, /^line 701 of the file has no time$/],
  [
    'rows of another symbol',
    archive => archive.edits.set(NAME, () => otherSymbol()),
    ALL,
    /^open of the hour at 00:00 UTC is not that of its 1h candle$/,
  ],
]

const otherSymbol = () =>
  (MADE.rows('ETHUSDT', '5m') as KlineRow[])
    .filter(row => row[0] >= Date.parse(FROM) && row[0] < Date.parse(TO))
    .map(row => row.join(','))

const SERIES = { symbol: 'BTCUSDT', interval: '5m' } as const
const YEAR = madeMarket({ BTCUSDT: { from: '2023-04-28T00:00Z', until: '2024-01-01T00:00Z', minutes: true } })
/** Its zips are those of days. */
const RECENT = madeMarket({ BTCUSDT: { from: '2026-03-31T00:00Z', minutes: true } })
const DELISTED = madeMarket({ BTCUSDT: { from: '2023-01-10T00:00Z', until: '2023-02-20T07:00Z', minutes: true } })
/** A page of a month goes on behind the end of its day. */
const isPage = ({ query, startTime = 0, endTime = 0 }: ExchangeRequest) =>
  query.get('interval') === '5m' && startTime > 0 && endTime >= startTime + DAY
const WRONG_HOUR = Date.parse('2024-02-04T15:00Z')
const RANGE = { from: FROM, to: TO }
const setup = (market = MARKET) => archiveSetup(market, SERIES)

describe('an archive with', () => {
  it.each(CASES)('%s: no row is stored that the exchange has otherwise', async (_, damage, days, reason = /^$/) => {
    const { archive, download, wrongDays, requestedDays } = await setup()
    damage(archive)
    const report = await download(RANGE)
    expect(wrongDays(FROM, TO)).toEqual([])
    expect(report.archive?.refused.map(({ startDate }) => startDate)).toEqual(days)
    for (const refused of report.archive?.refused ?? []) expect(refused.reason).toMatch(reason)
    expect(report.archive?.windows).toBe(ALL.length - days.length)
    expect(requestedDays()).toEqual(days)
    expect(archive.log).toHaveLength(1)
  })

  it('a row of the compared page that the exchange has otherwise: it gives the whole month', async () => {
    const first = await setup()
    await first.download(RANGE)
    const page = first.exchange.log.find(isPage)?.startTime ?? 0
    for (const row of [0, 999, 1000]) {
      const { archive, download, wrongDays, requestedDays } = await setup()
      const time = new Date(page + row * 300_000).toISOString()
      // Its close becomes its open.
      archive.edits.set(NAME, all => withCell(time, 4, () => lineAt(all, time).split(',')[1])(all))
      const { archive: used } = await download(RANGE)
      // Behind the page no sum shows it, as the docs say.
      const isSeen = row < 1000
      expect(used?.refused.map(({ startDate }) => startDate)).toEqual(isSeen ? ALL : [])
      for (const { reason } of used?.refused ?? [])
        expect(reason).toBe(`a row of ${time.slice(0, 10)} is not that of the exchange`)
      expect(requestedDays()).toEqual(isSeen ? ALL : [])
      expect(wrongDays(FROM, TO)).toEqual(isSeen ? [] : [time.slice(0, 10)])
    }
  })

  it.each([
    [
      'another low',
      HOURS.map(hour => (hour[0] === WRONG_HOUR ? (hour.with(3, '0.01000000') as KlineRow) : hour)),
      /^low of the hour at 15:00 UTC is not that of its 1h candle$/,
    ],
    ['no candle', HOURS.filter(([time]) => time !== WRONG_HOUR), /^the exchange has no 1h candle at 15:00 UTC$/],
    [
      'no candle of a day',
      HOURS.filter(([time]) => !isOf('2024-02-04')(String(time))),
      /^the exchange has no 1h candle at 00:00 UTC$/,
    ],
  ])('a 1h candle of the exchange that is wrong, %s: its day comes from the exchange', async (_, hours, reason) => {
    const { download, wrongDays, requestedDays } = await setup(marketOf(hours))
    const { archive } = await download(RANGE)
    expect(archive?.refused).toEqual([
      expect.objectContaining({ startDate: '2024-02-04', reason: expect.stringMatching(reason) }),
    ])
    expect(requestedDays()).toEqual(['2024-02-04'])
    expect(wrongDays(FROM, TO)).toEqual([])
  })

  it('a day on which nobody traded: it is empty, without a request', async () => {
    const isThere = ([time]: KlineRow) => time < Date.parse('2024-02-11') || time >= Date.parse('2024-02-13')
    const market = madeMarket({ BTCUSDT: { rows: { '5m': ROWS.filter(isThere), '1h': HOURS.filter(isThere) } } })
    const { archive, download, text, requestedDays } = await setup(market)
    archive.edits.set(NAME, all => all.filter(line => isThere([timeOf(line)] as unknown as KlineRow)))
    expect((await download(RANGE)).archive).toEqual({ windows: ALL.length - 2, refused: [] })
    expect(text('5m/BTCUSDT/2024-02-12')).toBe('[]')
    expect(requestedDays()).toEqual([])
  })

  it.each<[string, Answer | undefined, string]>([
    ['no access', { status: 403 }, 'status 403'],
    ['a limit', { status: 429, headers: { 'retry-after': '300' } }, 'rate limited until 20\\d\\d-[^.]*Z'],
    ['bodies without an end', (_, response) => endless(response), 'the body is larger than 8388608 bytes'],
    ['pages in place of zips', { body: '<html>sign in</html>' }, 'the answer is no zip'],
    ['cut bodies', (_, response) => cut(response), 'connection closed by the other side [^.]*'],
    ['a host that is down', undefined, 'connection refused [^.]*'],
  ])('%s: the exchange gives all, and one note says so', async (_, answer, note) => {
    const { archive, download, wrongDays, warnings } = await archiveSetup(RECENT, SERIES)
    if (answer) archive.always('', answer)
    const archiveUrl = answer ? archive.url : `http://127.0.0.1:${await closedPort()}`
    const [from, to] = ['2026-04-01', '2026-04-21']
    const report = await download({ from, to, archiveUrl, retries: 0 })
    expect(wrongDays(from, to)).toEqual([])
    expect(report.archive?.windows).toBe(0)
    expect(report.archive?.refused.map(({ startDate }) => startDate)).toEqual(datesBetween(from, to))
    const text = new RegExp(
      `^The archive at \\S+ failed 10 times in a row: .*${note}\\. The exchange gives the rest\\.$`,
    )
    expect(warnings).toEqual([expect.stringMatching(text)])
    // Eight are on their way when the last failure of a row arrives.
    expect(archive.log.length).toBeLessThanOrEqual(10 + 7)
  })

  it('nothing of months without a 1h candle: no zip of a delisted symbol is asked for', async () => {
    const { archive, download, text } = await archiveSetup(DELISTED, SERIES)
    const report = await download({ from: '2023-01-10', to: '2023-04-02' })
    expect(archive.names).toEqual(['BTCUSDT-5m-2023-01', 'BTCUSDT-5m-2023-02'])
    // Nobody knows that the last candle of the symbol is the last one of this day.
    expect(report.archive?.refused.map(({ startDate }) => startDate)).toEqual(['2023-02-20'])
    expect(text('5m/BTCUSDT/2023-02-21')).toBe('[]')
    expect(text('5m/BTCUSDT/2023-04-01')).toBe('[]')
  })

  it.each([
    ['is no list', 'null', 'The page of candles'],
    ['has no row', '[]', 'is not that of the exchange'],
    ['has something else', '[null]', 'the page of candles has something else than rows'],
    ['is an error', '{"code":-1000,"msg":"sorry"}', 'status 200: sorry (code -1000)'],
  ])('a page of the exchange that %s: it gives the whole month', async (_, body, reason) => {
    const { exchange, download, wrongDays } = await setup()
    exchange.always(isPage, { body })
    const { archive } = await download({ ...RANGE, retries: 0 })
    expect(archive?.refused).toHaveLength(ALL.length)
    expect(archive?.refused[0].reason).toContain(reason)
    expect(wrongDays(FROM, TO)).toEqual([])
  })

  it('many requests at once: two months are unpacked, and eight zips fetched', async () => {
    const { archive, download, wrongDays } = await archiveSetup(YEAR, SERIES)
    const [from, to] = ['2023-04-28', '2024-01-01']
    const report = await download({ from, to, concurrency: 200 })
    expect(wrongDays(from, to)).toEqual([])
    expect(report.archive).toEqual({ windows: datesBetween(from, to).length, refused: [] })
    expect(archive.log).toHaveLength(9)
  })

  it('several series: each of them has months of its own', async () => {
    const { archive, download, wrongDays } = await archiveSetup(MADE, SERIES)
    const report = await download({ ...RANGE, symbols: ['BTCUSDT', 'ETHUSDT'], intervals: ['3m', '5m'] })
    expect(report.archive).toEqual({ windows: 4 * ALL.length, refused: [] })
    const names = ['BTCUSDT-3m', 'BTCUSDT-5m', 'ETHUSDT-3m', 'ETHUSDT-5m'].map(name => `${name}-2024-02`)
    expect(archive.names).toEqual(names)
    expect(wrongDays(FROM, TO)).toEqual([])
  })
})

/** What changes places between two rows. */
const PARTS = {
  volumes: [5, 7, 9, 10],
  counts: [8],
  candles: [1, 2, 3, 4, 5, 7, 8, 9, 10],
} as const
const PLACES = { day: 288, hour: 12 } as const

/** What is wrong with a file at a random place. */
type Mutation = {
  row: number
  other: number
  column: number
  kind: 'digit' | 'cell' | 'drop' | 'double' | 'swap' | 'shift' | keyof typeof PARTS
  within: keyof typeof PLACES
}

const mutations = fc.record<Mutation>({
  row: fc.nat(lines.length - 1),
  other: fc.nat(lines.length - 1),
  column: fc.nat(11),
  kind: fc.constantFrom('digit', 'cell', 'drop', 'double', 'swap', 'shift', 'volumes', 'counts', 'candles'),
  within: fc.constantFrom('day', 'hour'),
})

function mutate({ row, other, column, kind, within }: Mutation): string[] {
  const cells = lines[row].split(',')
  const withCells = (changed: string[]) => lines.with(row, changed.join(','))
  if (kind === 'drop') return lines.toSpliced(row, 1)
  if (kind === 'double') return lines.toSpliced(row, 0, lines[row])
  if (kind === 'swap') return lines.with(row, lines[other]).with(other, lines[row])
  if (kind === 'cell') return withCells(cells.with(column, lines[other].split(',')[column]))
  // Its values are those of the other row.
  if (kind === 'shift') return withCells(lines[other].split(',').with(0, cells[0]).with(6, cells[6]))
  if (kind !== 'digit') {
    const near = row - (row % PLACES[within]) + (other % PLACES[within])
    return exchangeCells(lines, row, near, PARTS[kind])
  }
  const at = other % cells[column].length
  const digit = (cells[column].charCodeAt(at) + 1) % 10
  return withCells(cells.with(column, cells[column].slice(0, at) + digit + cells[column].slice(at + 1)))
}

/** Whether the values of a candle can be: in units of 10^-8, and 10 times the tolerance of rounding. */
function isPossible(row: KlineRow): boolean {
  const units = (cell: string | number) => BigInt(String(cell).replace('.', ''))
  const [open, high, low, close, volume, quote, takers, takersQuote] = [1, 2, 3, 4, 5, 7, 9, 10].map(at =>
    units(row[at]),
  )
  const isPaid = (value: bigint, base: bigint) => {
    const [least, most] = [low, high].map(price => price * base)
    return value * 10n ** 13n >= least * 99_999n - 10n ** 13n && value * 10n ** 13n <= most * 100_001n + 10n ** 13n
  }
  const isOrdered = low <= open && low <= close && open <= high && close <= high
  return isOrdered && takers <= volume && takersQuote <= quote && isPaid(quote, volume) && isPaid(takersQuote, takers)
}

it('what is stored of a file with a random fault makes the hours of the exchange, of candles that can be', async () => {
  await fc.assert(
    fc.asyncProperty(mutations, async mutation => {
      const { archive, exchange, download, wrongDays, rows } = await setup()
      archive.edits.set(NAME, () => mutate(mutation))
      await download(RANGE)
      const page = exchange.log.find(isPage)?.startTime ?? 0
      for (const date of wrongDays(FROM, TO)) {
        const stored = rows(`5m/BTCUSDT/${date}`)
        const expected = ROWS.filter(row => isOf(date)(String(row[0])))
        expect(stored.map(row => [row[0], row[6]])).toEqual(expected.map(row => [row[0], row[6]]))
        expect(stored.filter(row => !isPossible(row))).toEqual([])
        for (let row = 0; row < 288; row += 12) {
          const [hour, sum] = [expected, stored].map(all => aggregateOracle(all[row][0], all.slice(row, row + 12)))
          expect(sum).toEqual(hour)
        }
        const isCompared = ([time]: KlineRow) => time >= page && time < page + 1000 * 300_000
        expect(stored.filter(isCompared)).toEqual(expected.filter(isCompared))
      }
    }),
    { numRuns: cases(500, 15) },
  )
})

function endless(response: ServerResponse): void {
  const more = () => response.write(Buffer.alloc(100_000)) && setImmediate(more)
  response.on('drain', more)
  response.writeHead(200).write('PK')
  more()
}

function cut(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': 1_000_000 }).write('PK')
  setImmediate(() => response.destroy())
}
