import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../../src/candles/columns.js'
import { readDays } from '../../../src/sources/archive/csv.js'
import { unzip } from '../../../src/sources/archive/zips.js'
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
const SPANS = { from: '2024-01-30T04:00Z', until: '2024-02-26T00:00Z' }
const MADE = madeMarket({ BTCUSDT: { ...SPANS, minutes: 1 }, ETHUSDT: { ...SPANS, minutes: 1 } })

/** Candles of 5m, that of noon without trades, so that the sums of its hour are those without it, and the hours that they add up to. */
const ROWS = (MADE.rows('BTCUSDT', '5m') as KlineRow[]).map((row, index, all): KlineRow => {
  if (row[0] % DAY !== DAY / 2) return row
  const [price, zero] = [all[index - 1][4], '0.00000000']
  return [row[0], price, price, price, price, zero, row[6], zero, 0, zero, zero, '0']
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
/** The lines of a day without a fault. */
const linesOf = (date: string, rows: readonly KlineRow[] = ROWS) => rows.map(row => row.join(',')).filter(isOf(date))
/** Changes a cell of a row. */
const withCell = (row: number, column: number, change: (cell: string) => string) => (lines: string[]) => {
  const cells = lines[row].split(',')
  return lines.with(row, cells.with(column, change(cells[column])).join(','))
}
/** Cells of two rows that change places. */
const exchanged = (row: number, other: number, columns: readonly number[]) => (lines: string[]) => {
  const [mine, others] = [lines[row].split(','), lines[other].split(',')]
  const take = (cells: string[], from: string[]) =>
    cells.map((cell, at) => (columns.includes(at) ? from[at] : cell)).join(',')
  return lines.with(row, take(mine, others)).with(other, take(others, mine))
}
const lines = ALL.flatMap(date => linesOf(date))
const member = (more: Partial<ZipMember> = {}) => ({ name: `${NAME}.csv`, content: toCsv(lines), ...more })
const ZIP = makeZip(member())
/** A zip with one bit of its data changed: the type of the first block. */
const FLIPPED = Buffer.from(ZIP)
FLIPPED[30 + `${NAME}.csv`.length] ^= 4
const textZip = (content: string | Buffer) => makeZip(member({ content }))

/** A zip of which no day is read, and why. */
const ZIPS: [string, Buffer, RegExp][] = [
  ['a flipped bit', FLIPPED, /^the zip is damaged: /],
  ['a wrong CRC', makeZip(member({ crc: 1 })), /^the zip is damaged: its CRC is wrong$/],
  ['a cut zip', ZIP.subarray(0, 5_000), /^the zip is damaged: /],
  ['a zip of nothing', makeZip(), /^the zip has 0 files$/],
  ['two members', makeZip(member(), member()), /^the zip has 2 files$/],
  ['two members that are no CSV', makeZip(member({ name: 'a' }), member({ name: 'b' })), /^the zip has 2 files$/],
  ['a bomb', textZip(Buffer.alloc(40e6)), /^the zip unpacks to 40000000 bytes$/],
  [
    'a bomb that hides',
    makeZip(member({ content: Buffer.alloc(40e6), size: 100 })),
    /^the zip is damaged: too many bytes/,
  ],
  ['an encrypted zip', makeZip(member({ isEncrypted: true })), /^the zip is damaged: entry is encrypted/],
  ['a line without an end', textZip(Buffer.alloc(30e6, '7')), /^line 1 of the file has no time$/],
  [
    'a line of commas behind good ones',
    textZip(`${toCsv(lines.slice(0, 500))}${','.repeat(5_000)}\n`),
    /^line 501 of the file has no time$/,
  ],
  ['a line of text', textZip(toCsv(lines.with(700, 'sorry'))), /^line 701 of the file has no time$/],
]

/** Names that members have or may have: the first one as the archive writes it, in UTF-8 that no flag announces. */
const MEMBERS = ['币安人生USDT-1m-2025-12.csv', 'a.CSV', 'no extension', `../${NAME}.csv`, '\u001b[2J']

/** A month in another form, as the archive has or had it: with a header, CRLF, ms and µs, another twelfth cell. */
const inOtherForms = (all: string[]) => [
  'open_time,open,high,low,close,volume,close_time\r',
  ...all
    .map((line, index) => (index % 3 ? line : inMicroseconds(line)))
    .map(line => `${line.slice(0, -1)}10779.8387\r`),
]

/** What a month may be as a whole, and why the exchange must give all of it. */
const MONTHS: [string, (archive: ArchiveServer) => void, string?][] = [
  ['nothing', archive => archive.zips.set(NAME, ZIP)],
  ['other forms of its lines', archive => archive.edits.set(NAME, inOtherForms)],
  ['no zip of a month', archive => archive.zips.set(NAME, undefined), 'the archive has no zip of it'],
  ['no zip at all', archive => archive.zips.set(NAME, Buffer.from('<html>sign in</html>')), 'the answer is no zip'],
  [
    'a CRC of another file',
    archive => archive.zips.set(NAME, makeZip(member({ crc: 1 }))),
    'the zip is damaged: its CRC is wrong',
  ],
]

const OTHER_DAYS = MADE.rows('ETHUSDT', '5m') as KlineRow[]
const OTHER_ORDER = /^row \d+, element 0 \(open_time\): .* does not come after the row before/
const ANY_SUM = /^row \d+: quote_volume|^volume of the hour at 10:00 UTC is not that of its 1h candle$/
const sumOf = (column: string, hour = 10) =>
  new RegExp(`^(${column}) of the hour at ${hour || '00'}:00 UTC is not that of its 1h candle$`)

/** What is wrong with the lines of a day, and why the exchange must give it. Row 121 opens at 10:05. */
const DAYS: [string, (lines: string[], date: string) => string[], RegExp][] = [
  ['a day short', day => day.slice(0, 84), /^no whole candle opens at \S+ 07:00 UTC$/],
  ['no line', () => [], /^the zip has no row of it$/],
  ['a candle lost that had no trade', day => day.toSpliced(144, 1), /^no whole candle opens at \S+ 12:00 UTC$/],
  ['doubled rows', day => day.flatMap(line => [line, line]), OTHER_ORDER],
  ['rows in another order', day => day.toReversed(), OTHER_ORDER],
  [
    'a stale volume',
    withCell(121, 5, cell => cell.replace(/^\d+/, whole => String(Number(whole) + 1))),
    sumOf('volume'),
  ],
  ['an open above its high', withCell(121, 1, () => '50.50000000'), /^row 121: open 50.50000000 is above high \S+$/],
  [
    'a low above its open, in an inner row',
    withCell(125, 3, () => '50.50000000'),
    /^row 125: low 50.50000000 is above open \S+$/,
  ],
  [
    'volumes that change places with those of a row of the same hour, and their quote volumes do not',
    exchanged(121, 122, [5, 9]),
    /^row 12[12]: quote_volume \S+ is (above high|below low) \S+ x volume \S+$/,
  ],
  ['volumes that change places within a day', exchanged(121, 134, [5, 7, 9, 10]), ANY_SUM],
  ['counts that change places within a day', exchanged(121, 134, [8]), sumOf('count')],
  ['whole candles that change places', exchanged(121, 287, [1, 2, 3, 4, 5, 7, 8, 9, 10]), sumOf('volume|high|low')],
  ['a stale count', withCell(121, 8, count => String(Number(count) + 1)), sumOf('count')],
  ['a volume without trades', withCell(144, 5, () => '5.00000000'), /^row 144: count is 0, but volume is 5.00000000$/],
  ['a lower low', withCell(121, 3, () => '0.01000000'), sumOf('low')],
  ['a last close', withCell(287, 4, () => '44.44000000'), sumOf('close', 23)],
  ['an escape', withCell(121, 4, cell => `\\u003${cell}`), /^a row is not written as the exchange does$/],
  ['an early close', withCell(121, 6, cell => String(Number(cell) - 1)), /^no whole candle opens at \S+ 10:05 UTC$/],
  ['eleven cells', day => day.map(line => line.slice(0, -2)), /^row 0: expected 12 elements, got 0$/],
  ['rows of another symbol', (_, date) => linesOf(date, OTHER_DAYS), sumOf('open', 0)],
]

const SERIES = { symbol: 'BTCUSDT', interval: '5m' } as const
/** Nine months with candles of their last two or three days. */
const NINE_MONTHS = madeMarket({
  BTCUSDT: {
    ...{ from: '2023-04-28T00:00Z', until: '2024-01-01T00:00Z', minutes: 5 },
    without: [4, 5, 6, 7, 8, 9, 10, 11].map(month => [Date.UTC(2023, month), Date.UTC(2023, month + 1, -1)]),
  },
})
/** Its zips are those of days. */
const RECENT = madeMarket({ BTCUSDT: { from: '2026-03-31T00:00Z', until: '2026-04-22T00:00Z', minutes: 5 } })
const DELISTED = madeMarket({ BTCUSDT: { from: '2023-01-10T00:00Z', until: '2023-02-20T07:00Z', minutes: 5 } })
/** A page of a month goes on behind the end of its day. */
const isPage = ({ query, startTime = 0, endTime = 0 }: ExchangeRequest) =>
  query.get('interval') === '5m' && startTime > 0 && endTime >= startTime + DAY
const WRONG_HOUR = Date.parse('2024-02-04T15:00Z')
const RANGE = { from: FROM, to: TO }
const setup = (market = MARKET) => archiveSetup(market, SERIES)

describe('an archive with', () => {
  it.each(MONTHS)('%s: no row is stored that the exchange has otherwise', async (_, damage, reason) => {
    const { archive, download, wrongDays, requestedDays } = await setup()
    damage(archive)
    const report = await download(RANGE)
    expect(wrongDays(FROM, TO)).toEqual([])
    const days = reason === undefined ? [] : ALL
    const refused = days.map(startDate => ({ ...SERIES, startDate, reason }))
    expect(report.archive).toEqual({ windows: ALL.length - days.length, refused })
    expect(requestedDays()).toEqual(days)
    expect(archive.log).toHaveLength(1)
  })

  it('faults of some of its days: each of these is refused for its reason, and comes from the exchange', async () => {
    const { archive, download, wrongDays, requestedDays } = await setup()
    const [to, dates] = ['2024-02-25', datesBetween(FROM, '2024-02-25')]
    archive.edits.set(NAME, all =>
      dates.flatMap((date, index) => {
        const day = all.filter(isOf(date))
        return DAYS[index]?.[1](day, date) ?? day
      }),
    )
    const report = await download({ from: FROM, to })
    expect(wrongDays(FROM, to)).toEqual([])
    const refused = DAYS.map(([name, , reason], index) => [name, dates[index], expect.stringMatching(reason)])
    const found = report.archive?.refused.map(({ startDate, reason }, index) => [DAYS[index]?.[0], startDate, reason])
    expect(found).toEqual(refused)
    expect(report.archive?.windows).toBe(dates.length - DAYS.length)
    expect(requestedDays()).toEqual(dates.slice(0, DAYS.length))
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
      archive.edits.set(NAME, all => {
        const at = all.findIndex(line => timeOf(line) === Date.parse(time))
        return withCell(at, 4, () => all[at].split(',')[1])(all)
      })
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
    const { archive, download, wrongDays } = await archiveSetup(NINE_MONTHS, SERIES)
    const [from, to] = ['2023-04-28', '2024-01-01']
    const report = await download({ from, to, concurrency: 200 })
    expect(wrongDays(from, to)).toEqual([])
    expect(report.archive).toEqual({ windows: 3 + 8 * 2, refused: [] })
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

it.each(ZIPS)('of %s no day is read', async (_, zip, reason) => {
  await expect(unzip(zip).then(readDays)).rejects.toThrow(reason)
})

it.each(MEMBERS)('the member %j of a zip is read', async name => {
  const zip = makeZip(member({ name }))
  const [flags, central] = [zip.indexOf('PK\x03\x04') + 6, zip.indexOf('PK\x01\x02') + 8]
  for (const at of [flags, central]) zip.writeUInt16LE(0, at)
  const others = [member({ name: 'README' }), member({ name: 'a/' })]
  const folder = name.toLowerCase().endsWith('.csv') ? [makeZip(others[0], member({ name }), others[1])] : []
  for (const one of [zip, ...folder]) expect(String(await unzip(one))).toBe(toCsv(lines))
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
  row: fc.nat(287),
  other: fc.nat(287),
  column: fc.nat(11),
  kind: fc.constantFrom('digit', 'cell', 'drop', 'double', 'swap', 'shift', 'volumes', 'counts', 'candles'),
  within: fc.constantFrom('day', 'hour'),
})
/** A month with a fault in each of its days. */
const months = fc.array(mutations, { minLength: ALL.length, maxLength: ALL.length })

function mutate(lines: string[], { row, other, column, kind, within }: Mutation): string[] {
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
    return exchanged(row, near, PARTS[kind])(lines)
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

it('what is stored of a file with random faults makes the hours of the exchange, of candles that can be', async () => {
  await fc.assert(
    fc.asyncProperty(months, async faults => {
      const { archive, exchange, download, wrongDays, rows } = await setup()
      archive.edits.set(NAME, () => faults.flatMap((fault, index) => mutate(linesOf(ALL[index]), fault)))
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
    { numRuns: cases(50, 3) },
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
