import { writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Ajv } from 'ajv'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FundingSchema } from '../../src/commands/reports/schemas.js'
import { listFunding } from '../../src/index.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { jsonAnswer, type PlainAnswer, RESTRICTED } from '../support/exchange/exchange-answers.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { FuturesMarket } from '../support/futures/futures-market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

const newSandbox = useSandboxes()
const MARKET = new FuturesMarket()
const HOUR = 3_600_000
const HEAD = 'symbol,funding_time,funding_rate,mark_price,interval_hours'
const START = Date.parse('2024-01-01')

/** An exchange of futures, and `klines funding` with its clock and address. */
async function setup() {
  const exchange = await ExchangeServer.start(MARKET)
  onTestFinished(() => expect(exchange.violations).toEqual([]))
  const sandbox = newSandbox()
  sandbox.now = EXCHANGE_NOW
  const address = `binance-usdm:${exchange.url}`
  const run = (args: string, env = {}) =>
    sandbox.call(['funding', ...args.split(' ')], { KLINES_FUNDING_URL: address, ...env })
  /** The next answers about funding have these rows. */
  const serve = (...pages: unknown[]) => exchange.script('fapi/v1/fundingRate', ...pages.map(jsonAnswer))
  return { exchange, sandbox, address, run, serve }
}

/** A row as the exchange serves it. */
const row = (time: number, more: object = {}) => ({
  symbol: 'BTCUSDT',
  fundingTime: time,
  fundingRate: '0.00010000',
  markPrice: '42000.10000000',
  rateType: 'Regular',
  ...more,
})

const lines = (text: string) => text.trimEnd().split('\n')
const timesOf = (csv: string) =>
  lines(csv)
    .slice(1)
    .map(line => Number(line.split(',')[1]))
const hoursOf = (csv: string) =>
  lines(csv)
    .slice(1)
    .map(line => line.split(',')[4])

describe('klines funding', () => {
  it('has the whole life of a contract, each page from the last time of the one before', async () => {
    const { exchange, run } = await setup()
    const { code, stdout, stderr } = await run('btc/usdt -f csv')
    expect([code, stderr]).toEqual([0, ''])
    expect(lines(stdout).slice(0, 3)).toEqual([
      HEAD,
      'BTCUSDT,1568102400000,0.00010000,,8',
      'BTCUSDT,1568131200000,0.00010000,,8',
    ])
    const times = timesOf(stdout)
    // Eight hours apart since 2019-09-10 08:00, with some ms of jitter.
    const due = Array.from({ length: times.length }, (_, index) => 1568102400000 + index * 8 * HOUR)
    expect(times.map(time => time - (time % 1000))).toEqual(due)
    expect(times.some(time => time % 1000 !== 0)).toBe(true)
    expect(EXCHANGE_NOW - times[times.length - 1]).toBeLessThan(8 * HOUR)
    expect(new Set(hoursOf(stdout))).toEqual(new Set(['8']))
    const starts = exchange.log.map(({ startTime }) => startTime)
    const seams = times.filter((_, index) => index > 0 && index % 999 === 0)
    expect(starts).toEqual([Date.parse('2019-09-01'), ...seams, times[times.length - 1]])
    expect(exchange.log.every(({ limit }) => limit === 1000)).toBe(true)
  })

  it.each(['doubled', 'tied'] as const)(
    'neither loses nor doubles rows that are %s at the seam of pages',
    async fault => {
      const { exchange, run } = await setup()
      const plain = timesOf((await run('BTCUSDT -f csv')).stdout)
      exchange.faults.add(fault)
      const times = timesOf((await run('BTCUSDT -f csv')).stdout)
      expect(times).toEqual(fault === 'doubled' ? plain : plain.with(1000, plain[999]))
    },
  )

  it('has a range: from its start on, before its end', async () => {
    const { run } = await setup()
    const all = timesOf((await run('BTCUSDT -f csv --from 2024-01 --to 2024-02')).stdout)
    expect(all).toHaveLength(93)
    const some = await run(`BTCUSDT -f csv --from ${all[3]} --to ${all[6]}`)
    expect(timesOf(some.stdout)).toEqual(all.slice(3, 6))
    expect(timesOf((await run('BTCUSDT -f csv --last 2d')).stdout)).toHaveLength(6)
  })

  it('says the hours between two rows, of the first one to the next', async () => {
    const { run } = await setup()
    const changed = await run('ETHUSDT -f csv --from 2024-05-31 --to 2024-06-01T12:00')
    // Every four hours from 2024-06-01 00:00 on.
    expect(hoursOf(changed.stdout)).toEqual(['8', '8', '8', '8', '4', '4'])
    const single = await run('ETHUSDT -f csv --from 2024-05-31 --to 2024-05-31T01:00')
    expect(hoursOf(single.stdout)).toEqual([''])
  })

  it('writes csv, json and jsonl with the same cells, and what the exchange has as it is', async () => {
    const { run, serve, sandbox } = await setup()
    const rows = [row(START + 15, { fundingRate: '-0.00042931', markPrice: '' }), row(START + 4 * HOUR + 3)]
    const objects = [
      ['BTCUSDT', START + 15, '-0.00042931', '', 4],
      ['BTCUSDT', START + 4 * HOUR + 3, '0.00010000', '42000.10000000', 4],
    ].map(cells => Object.fromEntries(HEAD.split(',').map((name, index) => [name, cells[index]])))
    // Behind the last rows there are none.
    serve(...Array.from({ length: 6 }, () => [rows, []]).flat())
    const csv = `${HEAD}\nBTCUSDT,${START + 15},-0.00042931,,4\nBTCUSDT,${START + 4 * HOUR + 3},0.00010000,42000.10000000,4\n`
    expect((await run('BTCUSDT -f csv')).stdout).toBe(csv)
    expect(JSON.parse((await run('BTCUSDT')).stdout)).toEqual(objects)
    expect(lines((await run('BTCUSDT -f jsonl')).stdout).map(line => JSON.parse(line))).toEqual(objects)
    expect((await run('BTCUSDT -o a.json')).stdout).toBe('a.json: 2 rates\n')
    expect(JSON.parse(sandbox.text('a.json'))).toEqual(objects)
    expect((await run('BTCUSDT -o a.csv.gz -q')).stdout).toBe('')
    expect(gunzipSync(sandbox.bytes('a.csv.gz')).toString()).toBe(csv)
    const { stdout } = await run('BTCUSDT --json')
    expect(JSON.parse(stdout)).toEqual({ rates: objects, warnings: [] })
    expect(new Ajv({ allowUnionTypes: true }).compile(FundingSchema)(JSON.parse(stdout))).toBe(true)
  })

  it('leaves a file with the same bytes alone, and replaces another one with --force', async () => {
    const { run, sandbox } = await setup()
    const args = 'BTCUSDT --from 2024-01 --to 2024-02 -o a.csv'
    writeFileSync(sandbox.path('a.csv'), 'mine\n')
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining('a.csv exists already') })
    expect(sandbox.text('a.csv')).toBe('mine\n')
    expect(await run(`${args} --force`)).toMatchObject({ code: 0, stderr: '' })
    expect(await run(args)).toMatchObject({ code: 0, stdout: 'a.csv: 93 rates\n' })
    expect(lines(sandbox.text('a.csv'))).toHaveLength(94)
    expect(sandbox.files()).toEqual(['a.csv'])
  })

  it('takes several symbols and patterns, and notes those without a settlement', async () => {
    const { run } = await setup()
    const { code, stdout, stderr } = await run('ETHUSDT BTCUSDT* -f csv --last 1d')
    expect(code).toBe(0)
    expect(lines(stdout).map(line => line.split(',')[0])).toEqual([
      'symbol',
      ...Array(6).fill('ETHUSDT'),
      ...Array(3).fill('BTCUSDT'),
    ])
    expect(stderr).toContain('Note: No funding rate of BTCUSDT_261225 in the range.\n')
  })

  it('has one file for all symbols', async () => {
    const { run, sandbox } = await setup()
    expect(await run('BTCUSDT --last 1d -o {symbol}.csv')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('-o'),
    })
    expect(sandbox.files()).toEqual([])
  })

  it('is of binance-usdm alone, whose address is not that of candles', async () => {
    const { run, exchange } = await setup()
    for (const other of ['binance', 'sample', 'binance-usdm-mark', exchange.url]) {
      const stderr = expect.stringContaining(`${other} has no funding. Expected binance-usdm or binance-usdm:URL.`)
      expect(await run(`BTCUSDT --base-url ${other}`)).toMatchObject({ code: 2, stderr })
    }
    expect(exchange.log).toEqual([])
    expect(await run('BTCUSDT --last 1d -f csv', { KLINES_BASE_URL: 'sample' })).toMatchObject({ code: 0, stderr: '' })
  })

  it('is exit code 4 without a row, and 2 for a symbol that is not there', async () => {
    const { run, exchange } = await setup()
    expect(await run('BTCUSDT_261225')).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('No funding'),
    })
    expect(await run('BTCUSDT --to 2018')).toMatchObject({ code: 4 })
    exchange.reset()
    const unknown = await run('BTCUSD')
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
    expect(unknown.stderr).toMatch(/^klines: Unknown symbol "BTCUSD".*\n {2}Did you mean BTCUSDT\?$/m)
    expect(await run('BTCUSDT -o a.parquet')).toMatchObject({ code: 2, stderr: expect.stringContaining('not parquet') })
  })
})

it('listFunding has the rows as objects', async () => {
  const { address } = await setup()
  const [rate] = await listFunding({ symbols: ['BTCUSDT'], to: '2019-09-11', baseUrl: address })
  const first = { symbol: 'BTCUSDT', funding_time: 1568102400000, funding_rate: '0.00010000', mark_price: '' }
  expect(rate).toEqual({ ...first, interval_hours: 8 })
})

const GOOD = [row(START), row(START + 8 * HOUR)]

describe('an answer that is refused', () => {
  it.each<[string, unknown, string]>([
    ['another symbol', [row(START, { symbol: 'ETHUSDT' })], 'row 0'],
    ['a time as text', [...GOOD, row(START + 16 * HOUR, { fundingTime: '1704124800000' })], 'row 2'],
    ['a time before that of the row before', GOOD.toReversed(), 'row 1'],
    ['a time before the range', [row(START - 1)], 'row 0'],
    ['a time behind the range', [row(START + 48 * HOUR)], 'row 0'],
    ['a rate as a number', [row(START, { fundingRate: 0.0001 })], 'row 0'],
    ['a rate with an exponent', [row(START, { fundingRate: '1e-4' })], 'row 0'],
    ['a negative mark price', [row(START, { markPrice: '-1' })], 'row 0'],
    ['no mark price', [row(START, { markPrice: undefined })], 'row 0'],
    ['a row that is none', [...GOOD, null], 'row 2 is null'],
    ['no list', { rows: GOOD }, 'not an array'],
  ])('has %s: the row is named, and nothing is written', async (_, body, name) => {
    const { run, serve, sandbox } = await setup()
    serve(body)
    const { code, stdout, stderr } = await run('BTCUSDT --from 2024-01-01 --to 2024-01-03 --retries 0 -o a.csv')
    expect([code, stdout, sandbox.files()]).toEqual([3, '', []])
    expect(stderr).toContain(`The list of funding rates of BTCUSDT is refused: `)
    expect(stderr).toContain(name)
  })

  it('has a page of one time, behind which nobody can ask', async () => {
    const { run, exchange } = await setup()
    const rates = (offset: number) =>
      Array.from({ length: 1000 }, (_, index) => row(START, { fundingRate: `0.${index + offset}` }))
    exchange.always('fapi/v1/fundingRate', jsonAnswer(rates(0)))
    const { code, stderr } = await run('BTCUSDT --from 2023')
    expect([code, stderr]).toEqual([3, `klines: BTCUSDT has 1000 funding rates at ${START}.\n`])
  })

  it.each<[string, PlainAnswer, number, string]>([
    ['a region that is not served', RESTRICTED, 5, 'does not serve this region'],
    ['a page of a network', { status: 200, headers: {}, body: '<html>' }, 5, 'did not answer with JSON'],
  ])('is %s', async (_, answer, code, words) => {
    const { run, exchange } = await setup()
    exchange.always('fapi/v1/fundingRate', answer)
    expect(await run('BTCUSDT --retries 0')).toMatchObject({ code, stderr: expect.stringContaining(words) })
  })
})
