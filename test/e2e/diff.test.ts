import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { DiffSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, startTreeServer, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { closedPort } from '../support/servers/closed-port.js'
import { snapshot } from '../support/snapshot.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, RENDERED, type Row, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const HOUR = 3_600_000
const WINDOW = 'api/klines/1h/BTCUSDT/2025-01-01.json'

describe('klines diff of two mirrors, lakes and files', () => {
  let sandbox: CliSandbox
  const call = async (command: string, code = 0) => {
    const env = { KLINES_BASE_URL: 'sample', KLINES_MIRROR: 'm' }
    const run = await sandbox.call(command.split(' '), env)
    expect([run.code, run.stderr]).toEqual([code, ''])
    return run
  }
  const lines = async (command: string, code = 0) => (await call(command, code)).stdout.trimEnd().split('\n')
  /** A copy of the mirror, one of whose windows is changed. */
  const copyMirror = (name: string, change: (rows: Row[]) => void = () => {}, path = WINDOW) => {
    cpSync(sandbox.path('m'), sandbox.path(name), { recursive: true, force: true })
    const rows: Row[] = JSON.parse(sandbox.text(`${name}/${path}`))
    change(rows)
    writeFileSync(sandbox.path(`${name}/${path}`), JSON.stringify(rows))
  }

  beforeAll(async () => {
    sandbox = newSandbox()
    await call('download BTCUSDT ETHUSDT -i 1h,4h -q')
    await call('export BTCUSDT -i 1h --resample 3h -q --force -o BTCUSDT-3h.csv')
  })

  it('says below the verdict what each mirror lacks of a range, and has it in the object', async () => {
    copyMirror('same')
    const requested = 'You asked for 2025-03-25 00:00 to 2025-04-05 00:00 UTC'
    const range = '--from 2025-03-25 --to 2025-04-05'
    const lacking = [
      `${requested}; 2 series have less:`,
      'BTCUSDT 1h: candles from 2025-03-25 00:00 to 2025-03-30 23:00: 120 short at the end',
      'BTCUSDT 4h: candles from 2025-03-25 00:00 to 2025-03-30 20:00: 30 short at the end',
    ]
    expect(await lines(`diff m same BTCUSDT -i 1h,4h ${range}`)).toEqual([
      'Equal: 2 series, 180 candles',
      'A: m',
      'B: same',
      '',
      `A: ${lacking[0]}`,
      ...lacking.slice(1),
      '',
      `B: ${lacking[0]}`,
      ...lacking.slice(1),
    ])
    const { stdout } = await call(`diff m same BTCUSDT -i 4h ${range} --json`)
    const [{ coverage }] = parseObject(stdout, DiffSchema).series
    expect([coverage.a?.shortAtEnd, coverage.b?.shortAtEnd]).toEqual([30, 30])
    // An end that is not named is never short.
    await call(`export BTCUSDT -i 4h ${range} --force -o BTCUSDT-4h.csv`)
    const file = await lines(`diff BTCUSDT-4h.csv m ${range}`)
    const said = `${requested}; ${lacking[2].replace('BTCUSDT 4h: ', '')}.`
    expect(file.slice(3)).toEqual(['', `A: ${said}`, '', `B: ${said}`])
    expect(await lines('diff m same BTCUSDT -i 4h --from 2025-03-25')).toHaveLength(3)
  })

  it('lists cells with both values, and candles of one side, in order of time', async () => {
    copyMirror('b', rows => {
      rows[3][4] = '1.5'
      rows[3][8] = 7
      rows.splice(5, 3)
      rows[20][1] += '00'
    })
    copyMirror('a', rows => rows.splice(40, 1))
    const original = JSON.parse(sandbox.text(`m/${WINDOW}`))[3]
    const [close, trades] = [original[4], original[8]]
    expect(await lines('diff a b', 6)).toEqual([
      'Different: 1 of 4 series, 2 cells in 1 candle, 3 candles only in A, 1 candle only in B; 5,450 candles in both',
      'A: a',
      'B: b',
      '',
      'BTCUSDT 1h: 2 cells in 1 candle, 3 candles only in A, 1 candle only in B; 2,177 candles in both',
      '  2025-01-01 03:00',
      `    close ${close} -> 1.5`,
      `    count ${trades} -> 7`,
      '  2025-01-01 05:00 to 2025-01-01 07:00: 3 candles only in A',
      '  2025-01-02 16:00: 1 candle only in B',
    ])
    expect(parseObject((await call('diff a b --json', 6)).stdout, DiffSchema)).toMatchObject({ verdict: 'different' })
  })

  it('lists the first 20 differences of a series, and all with -v', async () => {
    copyMirror('many', rows => {
      for (const row of rows.slice(0, 24)) row[8] = 7
    })
    const listed = async (...flags: string[]) => (await lines(['diff m many', ...flags].join(' '), 6)).slice(5)
    const all = await listed('-v')
    expect(all).toHaveLength(2 * 24)
    expect(all[46]).toBe('  2025-01-01 23:00')
    expect(await listed()).toEqual([...all.slice(0, 40), '  and 4 more; -v lists all'])
    await call('export BTCUSDT -i 1h --from 2025-01-01T02:00 --to 2025-03-30 -q --force -o BTCUSDT-1h.csv')
    expect((await lines('diff BTCUSDT-1h.csv m', 6)).slice(5)).toEqual([
      '  2024-12-30 00:00 to 2025-01-01 01:00: 50 candles only in B',
      '  2025-03-30 00:00 to 2025-03-30 23:00: 24 candles only in B',
    ])
  })

  it('names a window that one side lacks as missing, and compares nothing of it', async () => {
    copyMirror('holes')
    rmSync(sandbox.path(`holes/${WINDOW}`))
    const missing = await lines('diff m holes', 3)
    expect(missing).toEqual([
      'Incomplete: 1 window missing in B; all else is equal: 4 series, 4,710 candles',
      'A: m',
      'B: holes',
      '',
      'B: 1 window not in the mirror: BTCUSDT 1h 2025-01-01',
      'Download them with klines download, or choose a range that both sides have with --from and --to.',
    ])
    expect((await lines('diff holes m --to 2025-01-01'))[0]).toMatch(/^Equal: 4 series/)
    const [none] = await lines('diff holes m BTCUSDT -i 1h --from 2026', 4)
    expect(none).toBe('No candles: neither side has one of BTCUSDT 1h in the range')
    copyMirror('bad')
    sandbox.write(`bad/${WINDOW}`, '[[')
    expect((await lines('diff m bad BTCUSDT -i 1h', 3))[0]).toMatch(/^Incomplete: 1 window corrupt in B; all else is/)
    // A difference elsewhere wins.
    copyMirror('holes', rows => rows.splice(3, 1), 'api/klines/4h/ETHUSDT/2025-01-01.json')
    rmSync(sandbox.path(`holes/${WINDOW}`))
    expect((await lines('diff holes m', 6))[0]).toBe(
      'Different: 1 of 4 series, 1 candle only in B, 1 window missing in A; 4,709 candles in both',
    )
  })

  it('says that a file, in any order, and a lake are equal to the mirror that they come from', async () => {
    await call('download BTCUSDT ETHUSDT -i 4h,12h --mirror few -q')
    const few = '-i 12h,4h --mirror few -q'
    await call(`export BTCUSDT ETHUSDT ${few} -o all.csv`)
    await call(`export ETHUSDT BTCUSDT ${few} --numbers decimal -o turned.parquet`)
    await call(`export ETHUSDT BTCUSDT ${few} --numbers decimal --layout hive -o lake`)
    const equal = ['Equal: 4 series, 1,456 candles', 'A: all.csv']
    for (const other of ['few', 'turned.parquet', 'lake'])
      expect(await lines(`diff all.csv ${other}`)).toEqual([...equal, `B: ${other}`])
    expect((await lines('diff all.csv few *USDT -i 4h --from 2025-01-01 --to 2025-01-02'))[0]).toBe(
      'Equal: 2 series, 12 candles',
    )
  })

  it.each<[string, number, string]>([
    ['diff m nowhere', 2, 'nowhere: there is no such file.'],
    ['diff sample binance', 2, 'Two services are too large to compare all they have.'],
    ['diff BTCUSDT-3h.csv m', 2, 'BTCUSDT 3h is resampled, and m has only candles as they are.'],
  ])('%s ends with %i', async (command, code, message) => {
    const run = await sandbox.call(command.split(' '))
    expect([run.code, run.stderr], run.stdout).toEqual([code, expect.stringContaining(message)])
  })
})

describe('klines diff of a mirror and a service', () => {
  it('asks the service for what it needs, and compares as far as the other side has candles', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    putFile(sandbox.path('m'), weekPath('BTCUSDT', FULL_WEEKS[1]), weekRows(FULL_WEEKS[1], { days: 7 }))
    rmSync(sandbox.path(`m/${weekPath('BTCUSDT', OPEN_WEEK)}`))
    const run = await sandbox.call(['diff', 'm', server.url, '--json'])
    const { series, differences, b } = parseObject(run.stdout, DiffSchema)
    const asked = { name: server.url, kind: 'service', asked: 11 }
    expect([run.code, b, series.map(({ both }) => both)]).toEqual([6, asked, [39, 42]])
    expect(differences).toMatchObject([{ side: 'b', candles: 1 }])
  })

  it('ends with 3 when a window could not be downloaded, and with 5 without a service', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    server.always(weekPath('ETHUSDT', FULL_WEEKS[2]), { status: 403 })
    const failed = await sandbox.call(['diff', 'm', server.url])
    expect([failed.code, failed.stdout]).toEqual([3, ''])
    expect(failed.stderr).toContain(`ETHUSDT 15m ${FULL_WEEKS[2]}`)
    const closed = await sandbox.call(['diff', 'm', `http://127.0.0.1:${await closedPort()}`, '--retries', '0'])
    expect([closed.code, closed.stdout]).toEqual([5, ''])
  })
})

describe('klines diff with a service shows what the service says now', () => {
  const [FIRST, SECOND, THIRD] = FULL_WEEKS
  const changed = weekRows(FIRST).with(2, weekRows(FIRST)[2].with(4, '1.50000000') as Row)
  const dropped = changed.toSpliced(4, 1)

  /** The candles of BTCUSDT in a file, and all windows in the own mirror of the service, at `own`. */
  async function setUp() {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const env = { KLINES_BASE_URL: server.url }
    const download = ['download', 'BTCUSDT', '-i', '15m', '--to', '2025-02-17', '-q', '-o', 'BTCUSDT-15m.csv']
    expect(await sandbox.call(download, env)).toMatchObject({ code: 0 })
    const own = (await sandbox.call(['mirror', '--path'], env)).stdout.trim()
    server.reset()
    const put = (week: string, rows: Row[]) => putFile(server.root, weekPath('BTCUSDT', week), rows, RENDERED + HOUR)
    return { sandbox, server, own, put, diff: (...args: string[]) => sandbox.call(['diff', ...args]) }
  }
  const cell = `    close ${weekRows(FIRST)[2][4]} -> 1.50000000`
  const withdrawn = '  2025-01-10 00:00: 1 candle only in A'

  it.each([[[]], [['--refresh']]])('a changed and a dropped candle of a final window %j', async more => {
    const { server, own, put, diff } = await setUp()
    put(FIRST, dropped)
    const run = await diff('BTCUSDT-15m.csv', server.url, ...more)
    expect(run.code, run.stderr).toBe(6)
    expect(run.stdout.split('\n')).toEqual([
      'Different: 1 of 1 series, 1 cell in 1 candle, 1 candle only in A; 41 candles in both',
      'A: BTCUSDT-15m.csv',
      `B: ${server.url}, asked for 6 windows`,
      '',
      'BTCUSDT 15m: 1 cell in 1 candle, 1 candle only in A; 41 candles in both',
      '  2025-01-08 00:00',
      cell,
      withdrawn,
      '',
    ])
    // What lacks candles is not stored, and is asked for again.
    expect(JSON.parse(readFileSync(join(own, weekPath('BTCUSDT', FIRST)), 'utf8'))).toEqual(weekRows(FIRST))
    expect(await diff('BTCUSDT-15m.csv', server.url)).toMatchObject({ code: 6, stdout: run.stdout })
  })

  it('asks for each window once, with the time of the cached version', async () => {
    const { server, diff } = await setUp()
    const run = await diff('BTCUSDT-15m.csv', server.url, '--json')
    expect(parseObject(run.stdout, DiffSchema)).toMatchObject({ verdict: 'equal', b: { asked: 6 } })
    const windows = server.log.filter(({ path }) => path.includes('BTCUSDT'))
    expect(windows.map(({ path, status }) => [path, status])).toEqual(
      [...FULL_WEEKS, OPEN_WEEK].map(week => [weekPath('BTCUSDT', week), 304]),
    )
    const since = new Date(RENDERED).toUTCString()
    expect(new Set(windows.map(({ headers }) => headers['if-modified-since']))).toEqual(new Set([since]))
  })

  it('no candle of a cached window that it has no more, also of one that it lists no more', async () => {
    const { server, diff } = await setUp()
    rmSync(join(server.root, weekPath('BTCUSDT', FIRST)))
    rmSync(join(server.root, weekPath('BTCUSDT', THIRD)))
    putFile(server.root, 'api/klines/start-dates/15m.json', [...FULL_WEEKS.slice(1), OPEN_WEEK, '2025-02-17'])
    const run = await diff('BTCUSDT-15m.csv', server.url)
    expect(run.code, run.stderr).toBe(6)
    expect(run.stdout).toContain('16 candles only in A; 26 candles in both\n')
  })

  it('beside its own mirror, which stays as it is', async () => {
    const { server, own, put, diff } = await setUp()
    put(FIRST, changed)
    rmSync(join(own, weekPath('BTCUSDT', SECOND)))
    const before = snapshot(own)
    const run = await diff(own, server.url, 'BTCUSDT', '-i', '15m')
    expect(run.code, run.stderr).toBe(6)
    expect(run.stdout).toContain(cell)
    expect(run.stdout).toContain('1 window missing in A')
    expect(snapshot(own)).toEqual(before)
  })

  it('beside another service, of series that are named', async () => {
    const { sandbox, server, put, diff } = await setUp()
    const other = await startTreeServer(sandbox)
    put(FIRST, changed)
    const named = ['BTCUSDT', '-i', '15m', '--to', '2025-02-17']
    const run = await diff(other.url, server.url, ...named)
    expect(run.code, run.stderr).toBe(6)
    expect(run.stdout).toContain(cell)
    expect(run.stdout).toContain(`A: ${other.url}, asked for 7 windows\nB: ${server.url}, asked for 7 windows\n`)
  })

  it('of the sample, too', async () => {
    const sandbox = newSandbox()
    const tampered = ['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '-q', '-o', 'BTCUSDT-1d.csv']
    expect(await sandbox.call(tampered)).toMatchObject({ code: 0 })
    const own = (await sandbox.call(['mirror', '--path', '--base-url', 'sample'])).stdout.trim()
    putFile(own, 'api/klines/1d/BTCUSDT/2024-01-01.json', [])
    expect(await sandbox.call(['diff', 'BTCUSDT-1d.csv', 'sample'])).toMatchObject({ code: 0 })
  })
})
