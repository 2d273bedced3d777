import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { DiffSchema } from '../../src/commands/reports/schemas.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { closedPort } from '../support/servers/closed-port.js'
import { candle, FULL_WEEKS, OPEN_WEEK, putFile, type Row, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const HOUR = 3_600_000
const HEADER =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'
const START = Date.UTC(2024, 11, 30)
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
    sandbox.write('torn-1h.csv', 'open_time\n1\n')
    sandbox.write('head-1h.csv', `${HEADER}\n`)
    mkdirSync(sandbox.path('empty'), { recursive: true })
    await call('export BTCUSDT -i 1h -q --force -o doubles.parquet')
    await call('export BTCUSDT -i 1h --resample 3h -q --force -o BTCUSDT-3h.csv')
  })

  it('says that equal mirrors are equal, in the first line', async () => {
    copyMirror('same')
    expect(await lines('diff m same')).toEqual(['Equal: 4 series, 5,454 candles', 'A: m', 'B: same'])
    expect((await lines('diff m same btc/usdt -i 1h'))[0]).toBe('Equal: 1 series, 2,181 candles')
    expect((await lines('diff m same *USDT -i 4h --from 2025-01-01 --to 2025-01-02'))[0]).toBe(
      'Equal: 2 series, 12 candles',
    )
  })

  it('says below the verdict what each mirror lacks of a range, and has it in the object', async () => {
    copyMirror('same')
    const requested = 'Requested 2025-03-25 00:00 to 2025-04-05 00:00 UTC'
    const range = '--from 2025-03-25 --to 2025-04-05'
    const lacking = [
      `${requested}; less is there of 2 series:`,
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
    // A file has no more than it has, and an end that is not named is never short.
    await call(`export BTCUSDT -i 4h ${range} -q --force -o BTCUSDT-4h.csv`)
    const file = await lines(`diff BTCUSDT-4h.csv m ${range}`)
    expect(file.slice(3)).toEqual(['', `B: ${requested}; ${lacking[2].replace('BTCUSDT 4h: ', '')}.`])
    expect(await lines('diff m same BTCUSDT -i 4h --from 2025-03-25')).toHaveLength(3)
    // So does a service; it is not asked for more than the other side has where only the present is the end.
    const service = await lines(`diff m sample BTCUSDT -i 4h ${range}`)
    expect(service.filter(line => line.endsWith(': 30 short at the end.'))).toHaveLength(2)
    expect((await lines('diff m sample BTCUSDT -i 4h --last 5y')).join()).not.toContain('short')
  })

  it.each([
    'BTCUSDT-1h.csv --time-format iso',
    'BTCUSDT-1h.csv.gz',
    'BTCUSDT-1h.json',
    'BTCUSDT-1h.jsonl --time-format us',
    'c.parquet --numbers decimal',
    'c.arrow --numbers text',
    'lake --layout hive --partition month --numbers decimal',
  ])('says that a file is equal to the mirror that it comes from: %s', async output => {
    const [file, ...options] = output.split(' ')
    const named = file === 'lake' ? 'BTCUSDT ETHUSDT -i 1h,4h' : 'BTCUSDT -i 1h'
    await call(`export ${named} -q --force -o ${file} ${options.join(' ')}`.trim())
    const count = file === 'lake' ? 'Equal: 4 series, 5,454 candles' : 'Equal: 1 series, 2,181 candles'
    expect((await lines(`diff ./${file} m`))[0]).toBe(count)
    // A lake and a file have other batches of candles.
    if (file === 'lake')
      expect((await lines('diff lake BTCUSDT-1h.json BTCUSDT -i 1h'))[0]).toBe(
        count.replace('4 series, 5,454', '1 series, 2,181'),
      )
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
    const { verdict, series, differences } = parseObject((await call('diff a b --json', 6)).stdout, DiffSchema)
    const time = Date.UTC(2025, 0, 1)
    const name = { symbol: 'BTCUSDT', interval: '1h' }
    expect([verdict, series[0].total, series[1].total]).toEqual(['different', 4, 0])
    expect(differences).toEqual([
      { ...name, kind: 'cell', openTime: time + 3 * HOUR, column: 'close', a: close, b: '1.5' },
      { ...name, kind: 'cell', openTime: time + 3 * HOUR, column: 'count', a: String(trades), b: '7' },
      ...[
        { side: 'a', position: 'inside', firstOpenTime: time + 5 * HOUR, lastOpenTime: time + 7 * HOUR, candles: 3 },
        { side: 'b', position: 'inside', firstOpenTime: time + 40 * HOUR, lastOpenTime: time + 40 * HOUR, candles: 1 },
      ].map(only => ({ ...name, kind: 'only', ...only })),
    ])
  })

  it('lists 20 differences of a series, and all with -v', async () => {
    copyMirror('many', rows => {
      for (const row of rows.slice(0, 60)) row[5] = '99999'
    })
    const short = await lines('diff m many', 6)
    expect([short[0], short.filter(line => line.includes('->')).length, short.at(-1)]).toEqual([
      'Different: 1 of 4 series, 60 cells in 60 candles; 5,454 candles in both',
      20,
      '  and 40 more; -v lists all',
    ])
    expect((await lines('diff m many -v', 6)).filter(line => line.includes('->'))).toHaveLength(60)
    const [some, all] = [await call('diff m many --json', 6), await call('diff m many --json -v', 6)].map(run =>
      parseObject(run.stdout, DiffSchema),
    )
    expect([some.isWhole, some.differences.length, all.isWhole, all.differences.length]).toEqual([false, 20, true, 60])
    expect(all.differences.slice(0, 20)).toEqual(some.differences)
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
    const { verdict, series, differences } = parseObject((await call('diff holes m --json', 3)).stdout, DiffSchema)
    expect([verdict, differences]).toEqual(['incomplete', []])
    expect(series[0]).toMatchObject({
      both: 2181 - 744,
      notCompared: 744,
      failures: [{ side: 'a', startDate: '2025-01-01', reason: 'not in the mirror' }],
    })
    // A difference elsewhere wins.
    copyMirror('holes', rows => rows.splice(3, 1), 'api/klines/4h/ETHUSDT/2025-01-01.json')
    rmSync(sandbox.path(`holes/${WINDOW}`))
    expect((await lines('diff holes m', 6))[0]).toBe(
      'Different: 1 of 4 series, 1 candle only in B, 1 window missing in A; 4,709 candles in both',
    )
    writeFileSync(sandbox.path(`holes/${WINDOW}`), '[[1,')
    expect((await lines('diff m holes BTCUSDT', 3))[0]).toBe(
      'Incomplete: 1 window corrupt in B; all else is equal: 2 series, 1,983 candles',
    )
    // A series that one side lacks as a whole is no other.
    rmSync(sandbox.path('holes/api/klines/1h/ETHUSDT'), { recursive: true })
    expect((await lines('diff m holes ETHUSDT -i 1h', 3))[0]).toMatch(/^Incomplete: \d+ windows missing in B; /)
  })

  it('counts what goes on after the end of a file, and before its start', async () => {
    await call('export BTCUSDT -i 1h --from 2025-01-01 --to 2025-03-01 -q --force -o part/BTCUSDT-1h.csv')
    expect(await lines('diff part/BTCUSDT-1h.csv m', 6)).toEqual([
      'Different: 1 of 1 series, 768 candles only in B; 1,413 candles in both',
      'A: part/BTCUSDT-1h.csv',
      'B: m',
      '',
      'BTCUSDT 1h: 768 candles only in B; 1,413 candles in both',
      '  2024-12-30 00:00 to 2024-12-31 23:00: 48 candles only in B, before the first one of A',
      '  2025-03-01 00:00 to 2025-03-30 23:00: 720 candles only in B, after the last one of A',
    ])
    const range = '--from 2025-01 --to 2025-03'
    expect((await lines(`diff part/BTCUSDT-1h.csv m ${range}`))[0]).toBe('Equal: 1 series, 1,413 candles')
  })

  it('compares resampled files with each other', async () => {
    await call('export BTCUSDT -i 1h --resample 180m --numbers text -q --force -o r.parquet')
    expect((await lines('diff BTCUSDT-3h.csv r.parquet -i 180m'))[0]).toBe('Equal: 1 series, 728 candles')
  })

  it('compares many series of a file in another order', async () => {
    await call('export BTCUSDT ETHUSDT -i 1h,4h -q --force -o all.csv')
    await call('export ETHUSDT BTCUSDT -i 4h,1h -q --force -o turned.csv.gz')
    expect((await lines('diff all.csv turned.csv.gz'))[0]).toBe('Equal: 4 series, 5,454 candles')
  })

  it.each<[string, number, string]>([
    ['diff m nowhere', 2, 'nowhere: there is no such file or folder.'],
    [
      'diff m empty',
      2,
      'empty is not a lake that can be read: it has no _klines.json. Nor is it a mirror, because it has no api/klines.',
    ],
    ['diff m doubles.parquet', 2, 'doubles.parquet, open: it is a double, which may not hold all digits of a candle.'],
    ['diff sample binance', 2, 'Two services are too large to compare all they have.'],
    ['diff BTCUSDT-3h.csv m', 2, 'BTCUSDT 3h is resampled, and m has only candles as they are.'],
    ['diff m m BTCUSDT -i 1d', 3, 'Neither m nor m has BTCUSDT 1d.'],
    ['diff BTCUSDT-3h.csv m ADAUSDT', 3, 'BTCUSDT-3h.csv has no ADAUSDT.'],
    ['diff head-1h.csv head-1h.csv', 4, 'Neither head-1h.csv nor head-1h.csv has any candles.'],
    ['diff m m -i 1x', 2, '"1x" is no interval'],
    ['diff m m --from 2030', 4, ''],
    ['diff m', 2, 'Missing'],
    ['diff m torn-1h.csv', 2, 'it lacks the columns open, high'],
  ])('%s ends with %i', async (command, code, message) => {
    const run = await sandbox.call(command.split(' '))
    expect([run.code, run.stderr], run.stdout).toEqual([code, expect.stringContaining(message)])
  })

  it('escapes what a file has in its names and cells', async () => {
    const rows = [candle(START), candle(START + HOUR)].map(row => row.join(','))
    const name = 'a\u001b[31m/BTCUSDT-1h.csv'
    mkdirSync(sandbox.path('a\u001b[31m'))
    sandbox.write('BTCUSDT-1h.csv', [HEADER, ...rows].join('\n'))
    sandbox.write(name, [HEADER, rows[0]].join('\n'))
    const { stdout, stderr } = await sandbox.call(['diff', name, 'BTCUSDT-1h.csv'])
    expect(stdout + stderr).not.toContain('\u001b')
    expect(stdout).toContain('A: a?[31m/BTCUSDT-1h.csv')
  })

  it('ends quietly when the reader of its output leaves', async () => {
    copyMirror('many', rows => {
      for (const row of rows) for (const column of [1, 2, 3, 4, 5, 7, 9, 10]) row[column] = `1${row[column]}`
    })
    const run = await sandbox.shell('klines diff m many -v | head -1; echo $PIPESTATUS')
    expect([run.stdout.split('\n')[0].slice(0, 10), run.stdout.trimEnd().split('\n').at(-1), run.stderr]).toEqual([
      'Different:',
      '0',
      '',
    ])
  })
})

describe('klines diff of a mirror and a service', () => {
  it('downloads what it needs into the mirror of the service, and compares as far as the other side has candles', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    putFile(sandbox.path('m'), weekPath('BTCUSDT', FULL_WEEKS[1]), weekRows(FULL_WEEKS[1], { days: 7 }))
    rmSync(sandbox.path(`m/${weekPath('BTCUSDT', OPEN_WEEK)}`))
    const run = await sandbox.call(['diff', 'm', server.url, '--json'])
    const { series, differences, b } = parseObject(run.stdout, DiffSchema)
    expect([run.code, b, series.map(({ both }) => both)]).toEqual([6, { name: server.url, kind: 'service' }, [39, 42]])
    expect(differences).toMatchObject([{ side: 'b', position: 'inside', candles: 1 }])
    // What is there is not requested again.
    server.reset()
    expect((await sandbox.call(['diff', server.url, 'm', 'ETHUSDT'])).stdout.split('\n').slice(0, 3)).toEqual([
      'Equal: 1 series, 42 candles',
      `A: ${server.url}, as far as the other side has candles`,
      'B: m',
    ])
    expect(server.log.filter(({ path }) => path.includes(FULL_WEEKS[0]))).toEqual([])
    const range = ['--from', FULL_WEEKS[0], '--to', '2025-02-12']
    const whole = await sandbox.call(['diff', 'm', server.url, 'BTCUSDT', ...range])
    expect([whole.code, whole.stdout.split('\n')[0]]).toEqual([
      6,
      'Different: 1 of 1 series, 1 candle only in B, 1 window missing in A; 39 candles in both',
    ])
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
