import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { BAD_LIMIT, banned, FORBIDDEN, RESTRICTED, UNKNOWN_SYMBOL } from '../support/exchange/exchange-answers.js'
import { type ExchangeRequest, isCandles } from '../support/exchange/exchange-request.js'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { FakeClock } from '../support/fake-clock.js'
import { staleLast, withoutRows, withoutVolumes } from '../support/futures/archive-faults.js'
import { CONTRACTS } from '../support/futures/contracts.js'
import { FuturesMarket } from '../support/futures/futures-market.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { aggregateOracle, toAmount } from '../support/oracles/resample-oracle.js'
import { ArchiveServer } from '../support/servers/archive-server.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { startTestServer } from '../support/servers/test-server.js'
import { pacedRun } from './support/paced-run.js'

/** The faults: what is wrong, what is asked, and what must happen. The test of each is the one of its number below. */
const TABLE = `
F99 an answer 400 has a weight      | 700 days that all fail         | our own count has them, and pauses at half of the limit
F100 no answer has the header       | 700 days                       | our own count pauses at half of the limit
F101 a minute ends between answers  | 700 days since its last 0.4 s   | no minute has more than half, and no day is lost
F102 others have used 2,399         | 700 days                       | the first answer pauses all to the next minute; none is refused
F103 -1130 in the middle of a run   | five months                    | exit 3 names the month; the next run asks for it alone
F104 -1121 in the middle of a run   | two contracts, one goes away   | exit 3 names its months; the other contract is whole
F105 exchangeInfo of 3 MB, odd names, unknown statuses | all names   | all that can be names are listed; one note names the other
F106 index prices have a pair       | a pair, and a quarterly        | the pair is whole; exit 2, since a quarterly is no pair
F107 451, 403 or 418                | a contract                     | exit 5 after one call, and no advice for the spot market alone
F108 a contract ends during a run   | download, update 2 days later  | the mirror has its last minute, though no list has its name
F109 weeks of candles without trade | download, stats, verify, page  | all are kept, and each says since when nobody has traded
F110 a name is used again           | the new contract               | the old candles stay, with a note; the new ones come
F111 names with _                   | files, a lake, serve, a client | each takes the name as it is
F112 bare wholes and a digit more   | CSV, JSON, decimals, verify    | text is untouched, decimals are exact, sums agree
F113 volumes are "0.0" and "0.0000" | a real row                     | its text is untouched, and verify takes it
F114 counts of marks do not add up  | verify, with altered cells     | another count is no fault, another price is
F115 a contract's volume is altered | verify                         | exit 6 names the candle and the column
F116 the archive has wrong days     | 1m and 5m of whole months      | those days come by REST, and all cells are the exchange's
F117 a mirror of another market     | spot, contracts, mark prices   | exit 2 with both names; nothing is stored
F118 3d has a grid of its own       | --resample 3d                  | refused without 3d candles; equal to the exchange's with them
F119 a candle has just closed       | --last 6h                      | closed candles alone, 15 s after their end`

const MARKET = new FuturesMarket()
const [HIGH, VOLUME, COUNT] = [2, 5, 8]
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
const newSandbox = useSandboxes()

/** An exchange, an empty sandbox at its present, and how a test runs the program. */
async function setup({ source = 'binance-usdm', market = MARKET } = {}) {
  const exchange = await ExchangeServer.start(market)
  const sandbox = newSandbox()
  sandbox.now = EXCHANGE_NOW
  onTestFinished(() => expect(exchange.violations).toEqual([]))
  const baseUrl = `${source}:${exchange.url}`
  /** Runs a line whose words have one space between them; `code`: its exit code. */
  const klines = async (line: string, code = 0) => {
    const run = await sandbox.call(line.split(' '))
    expect(run.code, run.stderr).toBe(code)
    return run
  }
  const download = (line: string, code?: number) => klines(`download ${line} --base-url ${baseUrl} --mirror m`, code)
  /** The candles of a series in the mirror; each of its files must be as the exchange writes it. */
  const mirrored = (symbol: string, interval: string): KlineRow[] => {
    const folder = `m/api/klines/${interval === '1m' ? '1min' : interval}/${symbol}`
    return sandbox.files(folder).flatMap(name => {
      const text = sandbox.text(`${folder}/${name}`)
      expect(text).toBe(JSON.stringify(JSON.parse(text)))
      return JSON.parse(text) as KlineRow[]
    })
  }
  /** Changes the last digit of a cell in a window. The index is removed: only sums can find it. */
  const alter = (window: string, index: number, column: number) => {
    const path = sandbox.path(`m/api/klines/${window}.json`)
    const rows = JSON.parse(readFileSync(path, 'utf8')) as KlineRow[]
    const cell = String(rows[index][column]).replace(/\d$/, digit => String((Number(digit) + 1) % 10))
    rows[index] = rows[index].with(column, column === COUNT ? Number(cell) : cell) as KlineRow
    writeFileSync(path, JSON.stringify(rows))
    rmSync(sandbox.path('m/.klines'), { recursive: true, force: true })
  }
  return { exchange, sandbox, baseUrl, klines, download, mirrored, alter }
}

/** The candles that the exchange has of a span and that closed 15 s ago. Times as `2024-01-01` or ms UTC; default: all until `now`. */
function candles(name: string, interval: string, span: readonly (string | number)[] = [], more = {}): KlineRow[] {
  const { kind, now, market } = { kind: 'klines' as const, now: EXCHANGE_NOW, market: MARKET, ...more }
  const [from = 0, to = now] = span.map(time => new Date(time).getTime())
  return market.candles(kind, name, interval, [from, to], now).filter(row => row[6] + 15_001 <= now)
}

const lines = (rows: readonly KlineRow[]) => rows.map(row => row.join(','))
const body = (csv: string) => csv.trimEnd().split('\n').slice(1)
const refusal = ({ body }: { body: string }) => ({ status: 400, body })

/** Downloads 700 days without a candle, each of them a call, from an exchange that a test has set up: from a second of a minute on. */
async function paced(second: number, setUp: (exchange: ExchangeServer, clock: FakeClock) => void) {
  const { exchange, sandbox } = await setup()
  const clock = new FakeClock(EXCHANGE_NOW + second * SECOND)
  exchange.now = () => clock.now()
  setUp(exchange, clock)
  const days = { symbols: ['REALUSDT'], intervals: ['1m'] as const, from: '2021-01-01', to: '2022-12-02' }
  const run = await pacedRun(exchange, clock, { ...days, mirror: sandbox.path('m'), concurrency: 16 })
  expect(run.outcomes).toHaveLength(700)
  // As many calls as at once may be on their way when half is used.
  expect(exchange.highestWeight).toBeLessThanOrEqual(1_200 + 2 * 16)
  expect(run.tookMs).toBeGreaterThanOrEqual((60 - second) * SECOND)
  expect(run.tookMs).toBeLessThan(4 * MINUTE)
  return { exchange, statuses: [...new Set(run.outcomes.map(({ status }) => status))] }
}

const TESTS: Readonly<Record<string, () => Promise<void>>> = {
  async F99() {
    const { statuses } = await paced(30, exchange => {
      exchange.sendsWeight = false
      const isOfDay = ({ kind, startTime }: ExchangeRequest) => isCandles(kind) && startTime !== 0
      exchange.always(isOfDay, refusal(BAD_LIMIT))
    })
    expect(statuses).toEqual(['failed'])
  },

  async F100() {
    const { statuses } = await paced(30, exchange => {
      exchange.sendsWeight = false
    })
    expect(statuses).toEqual(['fetched'])
  },

  async F101() {
    // Our own count begins anew in the minute that comes, and those on their way belong to one of both.
    const { statuses } = await paced(59.6, (exchange, clock) => {
      exchange.sendsWeight = false
      exchange.hold = () => clock.sleep(40)
    })
    expect(statuses).toEqual(['fetched'])
  },

  async F102() {
    const { exchange, statuses } = await paced(30, exchange => {
      exchange.otherWeight = 2_399
    })
    expect(statuses).toEqual(['fetched'])
    expect(exchange.log.filter(({ status }) => status !== 200)).toEqual([])
    expect([...exchange.weights.values()][0]).toBe(1)
  },

  async F103() {
    const { exchange, download, mirrored } = await setup()
    const command = 'ETHUSDT -i 1h --from 2024-01 --to 2024-06'
    const march = `fapi/v1/klines?symbol=ETHUSDT&interval=1h&startTime=${Date.parse('2024-03-01')}`
    exchange.script(march, refusal(BAD_LIMIT))
    const { stderr } = await download(command, 3)
    expect(stderr).toMatch(/1 of 5 windows could not be downloaded.*\n.*code -1130.*\(ETHUSDT 1h 2024-03-01\)/)
    const before = candles('ETHUSDT', '1h', ['2024-01-01', '2024-03-01'])
    expect(mirrored('ETHUSDT', '1h')).toEqual([...before, ...candles('ETHUSDT', '1h', ['2024-04-01', '2024-06-01'])])
    exchange.reset()
    await download(command)
    expect(exchange.calls.klines).toBe(2)
    expect(mirrored('ETHUSDT', '1h')).toEqual(candles('ETHUSDT', '1h', ['2024-01-01', '2024-06-01']))
  },

  async F104() {
    const { exchange, download, mirrored } = await setup()
    let calls = 0
    const isLost = ({ symbol }: ExchangeRequest) => symbol === 'BTCUSDT_260327' && ++calls > 2
    exchange.always(isLost, refusal(UNKNOWN_SYMBOL))
    const { stderr } = await download('BTCUSDT_260327 ETHUSDT -i 1h --from 2025-10 --to 2026-01 --concurrency 1', 3)
    expect(stderr).toMatch(/3 of 6 windows could not be downloaded/)
    expect(stderr).toMatch(/the exchange does not know this symbol.*code -1121.*BTCUSDT_260327 1h/)
    expect(mirrored('ETHUSDT', '1h')).toEqual(candles('ETHUSDT', '1h', ['2025-10-01', '2026-01-01']))
  },

  async F105() {
    const { exchange, baseUrl, klines, download, mirrored } = await setup()
    exchange.faults.add('big')
    const { stdout } = await klines(`symbols --base-url ${baseUrl} --mirror m --json`)
    const { symbols, warnings } = JSON.parse(stdout)
    const names = symbols.map(({ symbol }: { symbol: string }) => symbol).join(' ')
    expect(names).toBe('BTCUSDT ETHUSDT BTCUSDT_261225 LITUSDT NEWUSDT REALUSDT TSLAUSDT 币安人生USDT 龙虾USDT')
    expect(warnings).toEqual([expect.stringMatching(/^Names \(1\) that are not .*at most 40 bytes.*"A1234567890123/)])
    await download('龙虾USDT 币安* -i 1d')
    for (const name of ['龙虾USDT', '币安人生USDT']) expect(mirrored(name, '1d')).toEqual(candles(name, '1d'))
  },

  async F106() {
    const { exchange, download, mirrored } = await setup({ source: 'binance-usdm-index' })
    await download('BTCUSDT -i 4h --from 2026-01 --to 2026-04')
    const asked = exchange.log.filter(({ kind }) => isCandles(kind)).map(({ path }) => path.split('&')[0])
    expect(new Set(asked)).toEqual(new Set(['fapi/v1/indexPriceKlines?pair=BTCUSDT']))
    const kind = 'indexPriceKlines'
    expect(mirrored('BTCUSDT', '4h')).toEqual(candles('BTCUSDT', '4h', ['2026-01-01', '2026-04-01'], { kind }))
    expect((await download('BTCUSDT_261225 -i 4h', 2)).stderr).toContain('Unknown symbol "BTCUSDT_261225"')
    // A quarterly has the pair of the perpetual.
    await download('BTC* -i 1d --from 2026-04-01 --to 2026-04-11')
    expect(mirrored('BTCUSDT', '1d').length).toBeGreaterThan(0)
  },

  async F107() {
    for (const [answer, words] of [
      [RESTRICTED, /451 .*does not serve this region/],
      [FORBIDDEN, /403 .*firewall[\s\S]*Wait some minutes/],
      [banned(EXCHANGE_NOW, 300), /418 .*this address is banned until[\s\S]*Wait until then/],
    ] as const) {
      const { exchange, download } = await setup()
      exchange.always('fapi', answer)
      const { stderr } = await download('BTCUSDT -i 1h', 5)
      expect(stderr).toMatch(words)
      expect(stderr).not.toMatch(/--base-url binance(?!-usdm)/)
      expect(exchange.log).toHaveLength(1)
    }
  },

  async F108() {
    const [until, later, name] = [EXCHANGE_NOW, EXCHANGE_NOW + 2 * DAY, 'BTCUSDT_260430']
    const { BTCUSDT_260327: quarterly, ETHUSDT } = CONTRACTS
    const market = new FuturesMarket({ [name]: { ...quarterly, from: until - 2 * DAY, until }, ETHUSDT })
    const { exchange, sandbox, baseUrl, klines, download, mirrored } = await setup({ market })
    exchange.now = () => until + (exchange.log.length < 4 ? -30 : 30) * SECOND
    await download(`${name} -i 1m,5m --from 2026-04-27 --concurrency 1`)
    exchange.now = later
    sandbox.now = later
    expect((await klines(`update --base-url ${baseUrl} --mirror m`)).stderr).toBe('')
    for (const interval of ['1m', '5m'])
      expect(mirrored(name, interval)).toEqual(candles(name, interval, [0, until], { now: later, market }))
    const { stdout } = await klines(`symbols --base-url ${baseUrl} --mirror m`)
    expect(stdout).toMatch(/^BTCUSDT_260430 .* 1m 5m$/m)
  },

  async F109() {
    const { sandbox, klines, download, mirrored } = await setup()
    const words = 'FTTBUSD has had no trade since 2022-11-14 09:00 UTC.'
    expect((await download('FTTBUSD -i 1h,1d')).stdout).toContain(words)
    expect((await klines('stats FTTBUSD -i 1h --mirror m')).stdout).toContain(words)
    await klines('verify all -i all --mirror m')
    for (const interval of ['1h', '1d']) expect(mirrored('FTTBUSD', interval)).toEqual(candles('FTTBUSD', interval))
    const { request } = await startTestServer(sandbox.path('m'), { now: () => EXCHANGE_NOW })
    expect(String((await request('/')).body)).toContain('no trade since 2022-11-14 09:00')
  },

  async F110() {
    const now = Date.parse('2025-01-24T12:00Z')
    const [from, until] = CONTRACTS.LITUSDT.earlier ?? [0, 0]
    const old = new FuturesMarket({ LITUSDT: { ...CONTRACTS.LITUSDT, from, until } })
    const { exchange, sandbox, download, mirrored } = await setup({ market: old })
    exchange.now = now
    sandbox.now = now
    await download('LITUSDT -i 1h')
    const port = Number(new URL(exchange.url).port)
    await exchange.stop()
    await ExchangeServer.start(MARKET, { port })
    sandbox.now = EXCHANGE_NOW
    const note = /LITUSDT 1h 2025-01-01: the new version lacks \d+ cached candles, so the cached window stays/
    expect((await download('LITUSDT -i 1h')).stderr).toMatch(note)
    const kept = candles('LITUSDT', '1h', [from, until], { now, market: old })
    expect(mirrored('LITUSDT', '1h')).toEqual([...kept, ...candles('LITUSDT', '1h')])
  },

  async F111() {
    const { sandbox, klines, download } = await setup()
    const [name, before] = ['BTCUSDT_261225', 'BTCUSDT_260327']
    await download(`btc/usdt-261225 ${before} -i 1h --from 2026-03 -o {symbol}-{interval}.csv`)
    const [rows, delivered] = [candles(name, '1h'), candles(before, '1h', ['2026-03-01', EXCHANGE_NOW])]
    expect(body(sandbox.text(`${name}-1h.csv`))).toEqual(lines(rows))
    expect(body(sandbox.text(`${before}-1h.csv`))).toEqual(lines(delivered))
    const print = `${fingerprintOf(name, '1h', rows)}  ${name} 1h  ${rows.length} candles`
    expect((await klines(`fingerprint ${name}-1h.csv`)).stdout).toContain(print)
    const both = await klines('export BTCUSDT_* -i 1h -f csv --columns symbol,open_time --mirror m')
    expect(body(both.stdout)).toHaveLength(rows.length + delivered.length)
    await klines('export BTCUSDT_26122? -i 1h --layout hive -o lake --mirror m')
    const part = sandbox.path(`lake/symbol=${name}/interval=1h/part-0.parquet`)
    expect((await duckdb(`select count(*)::int as n from '${part}'`)).rows).toEqual([{ n: rows.length }])
    const serve = await startServeCommand(sandbox, ['--mirror', 'm'])
    onTestFinished(() => void serve.stop())
    const get = async (path: string) => (await fetch(serve.url + path)).text()
    expect(body(await get(`/export/1h/${name}.csv`))).toEqual(lines(rows))
    const answer = await get(`/fapi/v1/klines?symbol=${name}&interval=1h&startTime=0&limit=1500`)
    expect(JSON.parse(answer)).toEqual(rows)
    // What ccxt tells contracts by.
    const { symbols } = JSON.parse(await get('/fapi/v1/exchangeInfo'))
    expect(
      symbols.map((one: Record<string, unknown>) => [one.symbol, one.pair, one.contractType, one.deliveryDate]),
    ).toEqual([
      [before, 'BTCUSDT', 'CURRENT_QUARTER', Date.parse('2026-03-27T08:00Z')],
      [name, 'BTCUSDT', 'CURRENT_QUARTER', Date.parse('2026-12-25T08:00Z')],
    ])
    await klines(`download ${name} -i 1h --base-url binance-usdm:${serve.url} --mirror client -o client.csv`)
    expect(body(sandbox.text('client.csv'))).toEqual(lines(rows))
  },

  async F112() {
    // Until the end of August 2020 whole prices are bare; since 1 September highs have a digit more.
    const hours = candles('BTCUSDT', '1h', ['2020-08-20', '2020-09-03']).map((row, index) =>
      index < 288 ? row : (row.with(HIGH, `${row[HIGH]}5`) as KlineRow),
    )
    expect(hours.some(row => /^\d+$/.test(row[2]))).toBe(true)
    const part = (time: number) => hours.filter(row => row[0] >= time && row[0] < time + 4 * HOUR)
    const starts = hours.filter((_, index) => index % 4 === 0).map(([time]) => time)
    const longer = starts.map(time => aggregateOracle(time, part(time)) as KlineRow)
    const rows = (interval: string) => (interval === '1h' ? hours : interval === '4h' ? longer : [])
    const market = new FuturesMarket({ BTCUSDT: { ...CONTRACTS.BTCUSDT, rows } })
    const { sandbox, klines, download } = await setup({ market })
    const range = 'BTCUSDT --from 2020-08-20 --to 2020-09-03'
    await download(`${range} -i 4h -o x.json`)
    expect(JSON.parse(sandbox.text('x.json'))).toEqual(longer)
    await download(`${range} -i 1h -o x.csv`)
    expect(body(sandbox.text('x.csv'))).toEqual(lines(hours))
    await klines(`export ${range} -i 1h --numbers decimal -o x.parquet --mirror m`)
    const query = `select open::text a, high::text b, quote_volume::text c from '${sandbox.path('x.parquet')}'`
    const read = (await duckdb(query)).rows.map(({ a, b, c }) => [a, b, c].map(cell => toAmount(String(cell))))
    expect(read).toEqual(hours.map(row => [row[1], row[2], row[7]].map(toAmount)))
    const { stdout } = await klines(`verify ${range} -i all --mirror m`)
    expect(stdout).toContain('OK: 2 series, 420 candles, 84 comparisons')
  },

  async F113() {
    const { klines, download } = await setup()
    const range = 'REALUSDT -i 1d --from 2022-12-16 --to 2022-12-17'
    const row = '1671148800000,1.678,1.678,1.678,1.678,0.0,1671235199999,0.0000,0,0.0,0.0000,0'
    expect(body((await download(`${range} -f csv -o -`)).stdout)).toEqual([row])
    await klines(`verify ${range} --mirror m`)
  },

  async F114() {
    const { klines, download, mirrored, alter } = await setup({ source: 'binance-usdm-mark' })
    const range = '--from 2024-03-01 --to 2024-03-03'
    await download(`BTCUSDT -i 1m,1h ${range}`)
    const kind = 'markPriceKlines'
    expect(mirrored('BTCUSDT', '1m')).toEqual(candles('BTCUSDT', '1m', ['2024-03-01', '2024-03-03'], { kind }))
    alter('1h/BTCUSDT/2024-03-01', 30, COUNT)
    const { stdout } = await klines(`verify BTCUSDT -i 1h ${range} --mirror m`)
    expect(stdout).toMatch(/48 comparisons[\s\S]*Only prices and times are compared/)
    alter('1h/BTCUSDT/2024-03-01', 30, HIGH)
    const altered = await klines(`verify BTCUSDT -i 1h ${range} --mirror m`, 6)
    expect(altered.stdout + altered.stderr).toMatch(/2024-03-02 06:00.*high/)
  },

  async F115() {
    const { klines, download, alter } = await setup()
    const range = '--from 2026-01-05 --to 2026-01-12'
    await download(`BTCUSDT_260327 -i 15m,1h ${range}`)
    await klines(`verify BTCUSDT_260327 -i 1h ${range} --mirror m`)
    alter('1h/BTCUSDT_260327/2026-01-01', 100, VOLUME)
    const altered = await klines(`verify BTCUSDT_260327 -i 1h ${range} --mirror m`, 6)
    expect(altered.stdout + altered.stderr).toMatch(/2026-01-05 04:00.*volume/)
  },

  async F116() {
    for (const [interval, from, to, planned, refused, month, edit] of [
      // A month is a zip, two calls for its hours and one for a page; six days of 2019 are three calls each.
      ['1m', '2019-12-25', '2020-01-15', 26, 1, '2019-12', withoutRows('2019-12-31T00:00', '2019-12-31T00:01')],
      ['1m', '2025-01-20', '2025-02-05', 8, 1, '2025-01', withoutVolumes('2025-01-29T13:00', '2025-01-29T14:00')],
      ['5m', '2022-06-01', '2022-06-17', 4, 1, '2022-06', withoutRows('2022-06-09T20:00', '2022-06-10T00:00')],
      ['5m', '2022-05-05', '2022-05-25', 4, 3, '2022-05', withoutRows('2022-05-10T00:00', '2022-05-13T00:00')],
      ['5m', '2025-03-20', '2025-04-05', 8, 1, '2025-03', staleLast],
    ] as const) {
      const { download, mirrored } = await setup()
      const archive = await ArchiveServer.start(MARKET, EXCHANGE_NOW)
      archive.edits.set(`BTCUSDT-${interval}-${month}`, edit)
      const place = `--from ${from} --to ${to} --archive-url ${archive.url}`
      const plan = await download(`BTCUSDT -i ${interval} ${place} --dry-run`)
      expect(plan.stdout).toContain(`The run takes about ${planned} requests`)
      const report = JSON.parse((await download(`BTCUSDT -i ${interval} ${place} --json`)).stdout).archive
      const days = (Date.parse(to) - Math.max(Date.parse(from), Date.parse('2019-12-31'))) / DAY
      expect([month, report.windows, report.refused.length]).toEqual([month, days - refused, refused])
      expect(mirrored('BTCUSDT', interval)).toEqual(candles('BTCUSDT', interval, [from, to]))
    }
  },

  async F117() {
    const { exchange, baseUrl, sandbox, klines } = await setup()
    const spot = await ExchangeServer.start(madeMarket(MADE_SYMBOLS))
    const sources = { usdm: baseUrl, spot: `binance:${spot.url}`, mark: `binance-usdm-mark:${exchange.url}` }
    for (const [mirror, source] of Object.entries(sources))
      await klines(`download BTCUSDT -i 1h --from 2026-04 --mirror ${mirror} --base-url ${source}`)
    const before = sandbox.files()
    for (const [mirror, source] of [
      ['usdm', sources.spot],
      ['spot', sources.usdm],
      ['usdm', sources.mark],
    ] as const) {
      const { stderr } = await klines(`download ETHUSDT -i 1d --mirror ${mirror} --base-url ${source}`, 2)
      expect(stderr).toContain(`${mirror} is a mirror of ${sources[mirror]}, not of ${source}.`)
    }
    expect(sandbox.files()).toEqual(before)
  },

  async F118() {
    // Its first day is not one of those that 3d candles of the same symbol open on the spot market.
    const market = new FuturesMarket({ ETHUSDT: { ...CONTRACTS.ETHUSDT, from: Date.parse('2025-12-02T07:45Z') } })
    const { klines, download } = await setup({ market })
    await download('ETHUSDT -i 1d')
    const resample = 'export ETHUSDT -i 1d --resample 3d -f csv --mirror m'
    expect((await klines(resample, 2)).stderr).toContain('klines download ETHUSDT -i 3d')
    await download('ETHUSDT -i 3d')
    const made = body((await klines(resample)).stdout).map(line => line.split(',').map(toAmount))
    expect(made).toEqual(candles('ETHUSDT', '3d', [], { market }).map(row => row.map(toAmount)))
  },

  async F119() {
    for (const [time, last] of [
      ['2026-04-30T04:00:10Z', '2026-04-30T02:00Z'],
      ['2026-04-30T04:00:20Z', '2026-04-30T03:00Z'],
    ]) {
      const { exchange, sandbox, download } = await setup()
      const now = Date.parse(time)
      exchange.now = now
      sandbox.now = now
      const rows = candles('BTCUSDT', '1h', [now - 6 * HOUR, now], { now })
      expect(rows.at(-1)?.[0]).toBe(Date.parse(last))
      expect(body((await download('BTCUSDT -i 1h --last 6h -f csv -o -')).stdout)).toEqual(lines(rows))
    }
  },
}

it.each(TABLE.trim().split('\n'))('%s', row => TESTS[row.split(' ')[0]]())
