import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { tableFromIPC, tableToIPC } from 'apache-arrow'
import { parquetMetadata } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { UpdateSchema } from '../../src/cli/reports/schema.js'
import { windowPath } from '../../src/klines/paths.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { fileSnapshot, onlyPart } from '../support/lake.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { snapshot } from '../support/snapshot.js'
import { FULL_WEEKS, OPEN_WEEK, PRESENT, putFile, RENDERED, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const DAY = 86_400_000
const [BTC, ETH] = ['BTCUSDT', 'ETHUSDT']

/** A sandbox with a mirror `m` of BTCUSDT, and the server of its tree. */
async function setup() {
  const { sandbox, server, tree } = await stockedSandbox(newSandbox(), [BTC])
  const call = (args: string, env = {}) => sandbox.call(args.split(' '), env)
  /** Writes a file of BTCUSDT 15m. */
  const make = async (name: string, args = '') => {
    const run = await call(`export ${BTC} -i 15m --mirror m -o ${name} -q ${args}`.trim())
    expect(run).toMatchObject({ code: 0, stderr: '' })
  }
  /** The service has the last candles of a week that was open. */
  const endWeek = () => putFile(tree, weekPath(BTC, OPEN_WEEK), weekRows(OPEN_WEEK), RENDERED + 8 * DAY)
  const times = async (name: string) => {
    const { rows } = await duckdb(`select epoch_ms(open_time)::double as t from '${sandbox.path(name)}' order by 1`)
    return rows.map(({ t }) => t as number)
  }
  return { sandbox, server, tree, call, make, endWeek, times }
}

const weekTimes = (weeks: readonly string[], options = {}) =>
  weeks.flatMap(week => weekRows(week, options).map(([time]) => time))

describe('update without a path', () => {
  it('downloads what cached series lack from their first cached window on, also in between, and nothing else', async () => {
    const { sandbox, server, call, endWeek } = await setup()
    const [first, second, third, ...later] = FULL_WEEKS
    for (const week of ['2024-12-30', first, third]) rmSync(sandbox.path(`m/${weekPath(BTC, week)}`))
    endWeek()
    const dry = await call('update --mirror m --dry-run --json')
    expect(parseObject(dry.stdout, UpdateSchema).updates).toMatchObject([{ path: null, state: 'planned' }])
    expect(sandbox.exists(`m/${weekPath(BTC, third)}`)).toBe(false)
    server.reset()
    const run = await call('update --mirror m')
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^14 new candles\. Windows: 2 downloaded, 1 revalidated/m)
    const requested = server.paths('windows')
    expect(requested).toEqual([third, OPEN_WEEK, '2025-02-17'].map(week => weekPath(BTC, week)))
    expect(sandbox.files('m').filter(name => name.includes(ETH))).toEqual([])
    for (const week of [second, third, ...later]) expect(sandbox.exists(`m/${weekPath(BTC, week)}`)).toBe(true)
    const again = await call('update --mirror m --json')
    expect(parseObject(again.stdout, UpdateSchema)).toMatchObject({ updates: [{ path: null, state: 'up to date' }] })
  })

  it('brings back a series that the mirror had and whose files are all gone', async () => {
    const { sandbox, call } = await setup()
    // The first week is empty: the record knows candles.
    const before = sandbox.files('m/api').filter(name => !name.endsWith('/2024-12-30.json'))
    rmSync(sandbox.path(`m/${dirname(weekPath(BTC, OPEN_WEEK))}`), { recursive: true })
    const run = await call('update --mirror m')
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain(BTC)
    expect(sandbox.files('m/api')).toEqual(before)
  })

  it('goes on where a window cannot be downloaded, and ends with 3', async () => {
    const { sandbox, server, call, tree } = await setup()
    for (const week of FULL_WEEKS) rmSync(sandbox.path(`m/${weekPath(BTC, week)}`))
    rmSync(`${tree}/${weekPath(BTC, FULL_WEEKS[0])}`)
    server.reset()
    expect(await call('update --mirror m')).toMatchObject({ code: 3, stdout: '' })
    for (const week of FULL_WEEKS.slice(1)) expect(sandbox.exists(`m/${weekPath(BTC, week)}`)).toBe(true)
  })

  it('without a series says how to get one', async () => {
    const { sandbox, call } = await setup()
    sandbox.write('mirror.json', JSON.stringify({ layout: 1, baseUrl: 'http://127.0.0.1:9', complete: false }))
    const run = await call('update --mirror .')
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain('has no series yet')
  })

  it('asks nothing: more than 50,000 requests to the exchange are exit 2 unless --yes', async () => {
    const exchange = await ExchangeServer.start(madeMarket({}))
    const sandbox = newSandbox()
    sandbox.now = EXCHANGE_NOW
    putFile(sandbox.folder, 'm/mirror.json', { layout: 2, baseUrl: `binance:${exchange.url}`, complete: false })
    for (let index = 0; index < 9; index++) {
      const window = { symbol: `MANY${index}USDT`, interval: '1m', startDate: '2017-08-17' } as const
      putFile(sandbox.folder, `m/${windowPath(window)}`, [])
    }
    const refused = await sandbox.call(['update', '--mirror', 'm'])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    // 3,178 days after the cached one.
    expect(refused.stderr).toContain('This takes about 57,204 requests to the exchange')
    expect(refused.stderr).toContain('--yes sends them all')
    expect(exchange.log.filter(({ kind }) => kind === 'klines')).toEqual([])
    expect(await sandbox.call(['update', '--mirror', 'm', '--yes', '--dry-run'])).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('update of files', () => {
  it.each([
    ['a.parquet', ''],
    ['b.parquet', '--numbers decimal --columns close,open_time,count'],
    ['c.arrow', '--numbers text'],
    ['d.arrow', '--numbers decimal --from 2025-01-13'],
    ['e.parquet', '--resample 1d --partial --compression none'],
    ['f.arrow', '--to today --resample 2h --partial'],
    ['g.bin', '-f parquet --from -30d'],
  ])(
    '%s with %j stays as it is when nothing has changed, and becomes what an export would write',
    async (name, args) => {
      const { sandbox, call, make, endWeek } = await setup()
      await make(name, args)
      const before = lstatSync(sandbox.path(name), { bigint: true })
      const run = await call(`update ${name} --mirror m`)
      expect(run).toMatchObject({ code: 0, stderr: '' })
      expect(run.stdout).toMatch(new RegExp(`^${name} .* up to date$`, 'm'))
      const { ino, mtimeNs, ctimeNs } = lstatSync(sandbox.path(name), { bigint: true })
      expect([ino, mtimeNs, ctimeNs]).toEqual([before.ino, before.mtimeNs, before.ctimeNs])
      endWeek()
      const second = await call(`update ${name} --mirror m`)
      expect(second.stdout).toMatch(new RegExp(`^${name} .* updated$`, 'm'))
      await make(`new-${name}`, args)
      expect(sandbox.bytes(name).equals(sandbox.bytes(`new-${name}`))).toBe(true)
      expect(sandbox.files().filter(file => !file.startsWith('m/'))).toEqual([name, `new-${name}`].sort())
    },
  )

  it('a range that moves slides, an open one grows, and one with two dates takes changed candles only', async () => {
    const { sandbox, tree, call, make, endWeek, times } = await setup()
    const [first, second] = FULL_WEEKS
    await make('last.parquet', '--last 30d')
    await make('open.parquet', `--from ${second}`)
    await make('fixed.arrow', `--from ${second} --to ${FULL_WEEKS[2]}`)
    const fixed = sandbox.bytes('fixed.arrow')
    endWeek()
    const week = 7 * DAY
    sandbox.now = PRESENT + week
    const all = 'update last.parquet open.parquet fixed.arrow --mirror m'
    const run = await call(`${all} --json`)
    const { updates } = parseObject(run.stdout, UpdateSchema)
    expect(updates.map(({ path, state }) => [path, state])).toEqual([
      ['last.parquet', 'updated'],
      ['open.parquet', 'updated'],
      ['fixed.arrow', 'up to date'],
    ])
    const now = weekTimes([...FULL_WEEKS, OPEN_WEEK])
    expect(await times('last.parquet')).toEqual(now.filter(time => time >= PRESENT + week - 30 * DAY))
    expect(await times('open.parquet')).toEqual(now.filter(time => time >= Date.parse(second)))
    for (const one of [first, second]) putFile(tree, weekPath(BTC, one), weekRows(one, { seed: 9 }), RENDERED + DAY)
    const restated = await call(`${all} --refresh --json`)
    expect(parseObject(restated.stdout, UpdateSchema).updates.map(({ state }) => state)).toEqual([
      'up to date',
      'updated',
      'updated',
    ])
    const closes = [fixed, sandbox.bytes('fixed.arrow')].map(bytes => [
      ...(tableFromIPC(bytes).getChild('close') ?? []),
    ])
    expect(closes[1]).toEqual(weekRows(second, { seed: 9 }).map(row => Number(row[4])))
    expect(closes[0]).not.toEqual(closes[1])
  })

  it('keeps several series in their order, what was derived, and a link to the file', async () => {
    const { sandbox, server, call, endWeek } = await setup()
    await call(`download ${ETH} -i 15m --mirror m --base-url ${server.url} -q`)
    mkdirSync(sandbox.path('data'))
    symlinkSync('data/both.parquet', sandbox.path('both.parquet'))
    const args = `export ${ETH} ${BTC} -i 15m,1d --derive --partial --mirror m -o`
    expect(await call(`${args} data/both.parquet`)).toMatchObject({ code: 0 })
    endWeek()
    server.reset()
    expect(await call('update both.parquet --mirror m')).toMatchObject({ code: 0, stderr: '' })
    expect(server.paths('windows').filter(path => !path.includes('/15m/'))).toEqual([])
    await call(`${args} new.parquet`)
    expect(lstatSync(sandbox.path('both.parquet')).isSymbolicLink()).toBe(true)
    expect(sandbox.bytes('data/both.parquet').equals(sandbox.bytes('new.parquet'))).toBe(true)
  })

  it('a file that another program has changed stays as it is, and nothing is requested', async () => {
    const { sandbox, server, call, make } = await setup()
    await make('a.parquet')
    await make('a.arrow')
    const { key_value_metadata: pairs = [] } = parquetMetadata(readFileSync(sandbox.path('a.parquet')))
    const json = String(pairs[0].value)
    const metadata = `(format parquet, kv_metadata { klines: '${json}' })`
    const path = (name: string) => sandbox.path(name)
    await duckdb(`copy (from '${path('a.parquet')}') to '${path('same.parquet')}' ${metadata}`)
    const table = tableFromIPC(sandbox.bytes('a.arrow'))
    writeFileSync(path('same.arrow'), tableToIPC(table, 'file'))
    writeFileSync(path('fewer.arrow'), tableToIPC(table.slice(1), 'file'))
    writeFileSync(path('narrow.arrow'), tableToIPC(table.select(['open_time', 'close']), 'file'))
    // As if klines had written them, but not what they have.
    const forge = (from: string, to: string) => {
      expect(from).toHaveLength(to.length)
      return Buffer.from(sandbox.bytes('a.parquet').toString('latin1').replaceAll(from, to), 'latin1')
    }
    writeFileSync(path('rows.parquet'), forge('"rows":42', '"rows":43'))
    writeFileSync(path('types.parquet'), forge('"numbers":"double"', '"numbers": "text" '))
    writeFileSync(path('columns.parquet'), forge('"open","high"', '"high","open"'))
    writeFileSync(path('short.parquet'), sandbox.bytes('a.parquet').subarray(100))
    writeFileSync(path('short.arrow'), sandbox.bytes('a.arrow').subarray(0, -20))
    const bad = sandbox.files().filter(name => !name.startsWith('m/') && !name.startsWith('a.'))
    expect(bad).toHaveLength(9)
    server.reset()
    const before = snapshot(sandbox.folder)
    for (const name of bad) {
      const run = await call(`update ${name} --mirror m`)
      expect([name, run.code, run.stdout]).toEqual([name, 2, ''])
      expect(run.stderr).toContain(`${name} cannot be updated: `)
    }
    expect(snapshot(sandbox.folder)).toEqual(before)
    expect(server.log).toEqual([])
  })

  it('all paths are checked first: one that cannot be used, and nothing is written or requested', async () => {
    const { sandbox, server, call, make, endWeek } = await setup()
    await make('a.parquet')
    await make('my_file.csv')
    endWeek()
    server.reset()
    const before = snapshot(sandbox.folder)
    for (const bad of ['my_file.csv', 'missing.parquet', 'm', '.', 'a.parquet/x', '-']) {
      const run = await call(`update a.parquet ${bad} --mirror m`)
      expect([bad, run.code, run.stdout]).toEqual([bad, 2, ''])
      expect(run.stderr).toContain('Nothing was downloaded or written: all paths are checked first.')
    }
    expect(snapshot(sandbox.folder)).toEqual(before)
    expect(server.log).toEqual([])
    sandbox.write('my file.csv', 'x')
    const csv = await sandbox.call(['update', 'my file.csv', '--mirror', 'm'])
    expect(csv.stderr).toContain("klines download SYMBOL -i INTERVAL -o 'my file.csv' --force")
  })

  it('a file of a lake is not to be made anew: the error names the folder of the lake', async () => {
    const { sandbox, call, make } = await setup()
    await make('lake', '--layout hive')
    const before = snapshot(sandbox.folder)
    for (const name of ['_klines.json', '_README.md', onlyPart(BTC)]) {
      const run = await call(`update lake/${name} --mirror m`)
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toBe(
        `klines: lake/${name} cannot be updated: it is a file of a lake.\n  Name the folder of the lake: klines update lake\n`,
      )
    }
    expect(snapshot(sandbox.folder)).toEqual(before)
    // A file beside a lake is none of its files.
    sandbox.write('lake/notes.csv', 'x')
    expect((await call('update lake/notes.csv --mirror m')).stderr).toContain('-o lake/notes.csv --force')
  })

  it('a file without what is remembered now names the command that makes it anew', async () => {
    const { sandbox, server, call, make } = await setup()
    await make('x.parquet', '--from 2025-01-13')
    const bytes = sandbox.bytes('x.parquet').toString('latin1').replace('"request":', '"reqwest":')
    writeFileSync(sandbox.path('x.parquet'), bytes, 'latin1')
    const run = await call('update x.parquet --mirror m')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    const from = '--from 2025-01-13T00:00:00.000Z'
    expect(run.stderr).toContain(`klines download ${BTC} -i 15m --base-url ${server.url} ${from} -o x.parquet --force`)
  })

  it('what fails does not keep others from being updated', async () => {
    const { sandbox, call, make, endWeek } = await setup()
    await make('gone.parquet', '--from 2025-01-13 --to 2025-01-27')
    await make('a.parquet', '--last 30d')
    endWeek()
    const holes = await call('update gone.parquet a.parquet --mirror m --fail-on-gaps --json')
    expect(holes.code).toBe(3)
    const { updates } = parseObject(holes.stdout, UpdateSchema)
    expect(updates.map(({ state, error }) => [state, error?.code])).toEqual([
      ['failed', 'incomplete'],
      ['failed', 'incomplete'],
    ])
    sandbox.now = PRESENT + 40 * DAY
    const run = await call('update a.parquet gone.parquet --mirror m')
    expect(run.code).toBe(4)
    expect(run.stdout).toMatch(/^a\.parquet .* failed\ngone\.parquet .* up to date$/m)
    expect(run.stderr).toContain('klines: No candle of BTCUSDT 15m opens')
  })
})

describe('update of lakes', () => {
  const lakeOf = async (sandbox: CliSandbox, args: string) => {
    const run = await sandbox.call(`export ${BTC} --mirror m --layout hive -o lake ${args}`.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
  }

  it.each([
    ['-i 15m --table delta --last 30d --numbers decimal', '15m'],
    ['-i 15m --resample 1d --partial', '1d'],
    ['-i 1d --derive --partial', '1d'],
  ])('with %s: parts are made current, without new series', async (args, interval) => {
    const { sandbox, server, call, endWeek } = await setup()
    await lakeOf(sandbox, args)
    const before = fileSnapshot(sandbox.path('lake'))
    const same = await call('update lake --mirror m --json')
    expect(parseObject(same.stdout, UpdateSchema)).toMatchObject({ updates: [{ path: 'lake', state: 'up to date' }] })
    expect(fileSnapshot(sandbox.path('lake'))).toEqual(before)
    endWeek()
    server.reset()
    const run = await call('update lake --mirror m --json')
    const { updates } = parseObject(run.stdout, UpdateSchema)
    expect(updates).toMatchObject([{ state: 'updated', run: { lake: { written: 1, notRequested: [] } } }])
    expect(server.paths('windows').filter(path => !path.includes(`/15m/${BTC}/`))).toEqual([])
    const part = sandbox.files('lake').find(name => name.includes(dirname(onlyPart(BTC, interval))))
    expect(part).toBeDefined()
    const { rows } = await duckdb(
      `select max(epoch_ms(open_time))::double as t from '${sandbox.path('lake')}/*/*/*.parquet'`,
    )
    expect(rows[0].t).toBe(interval === '1d' ? Date.UTC(2025, 1, 16) : weekTimes([OPEN_WEEK]).at(-1))
  })

  it('leaves a lake with a link, a part of a lake, and a folder that is no lake as they are', async () => {
    const { sandbox, server, call } = await setup()
    await lakeOf(sandbox, '-i 15m')
    server.reset()
    const part = await call(`update lake/${onlyPart(BTC)} --mirror m`)
    expect(part).toMatchObject({ code: 2, stdout: '' })
    expect(part.stderr).toContain('Name the folder of the lake: klines update lake')
    mkdirSync(sandbox.path('elsewhere'))
    symlinkSync(sandbox.path('elsewhere'), sandbox.path('lake/symbol=XUSDT'))
    const before = snapshot(sandbox.folder)
    expect(await call('update lake --mirror m')).toMatchObject({ code: 2, stdout: '' })
    expect(snapshot(sandbox.folder)).toEqual(before)
    rmSync(sandbox.path('lake/symbol=XUSDT'))
    sandbox.write('lake/_klines.json', sandbox.text('lake/_klines.json').replace('"double"', '"foo"'))
    expect((await call('update lake --mirror m')).stderr).toBe(
      'klines: lake cannot be updated: --numbers is "foo". Expected text, double, decimal.\n' +
        '  Run the klines export or klines download that made the lake again, with --force.\n',
    )
    rmSync(sandbox.path('lake/_klines.json'))
    const run = await call('update lake --mirror m')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(server.log).toEqual([])
  })
})
