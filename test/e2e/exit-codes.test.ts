import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { closedPort } from '../support/servers/closed-port.js'
import { TreeServer } from '../support/servers/tree-server.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  PRESENT,
  START_DATES,
  STARTED,
  SYMBOLS,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const OLD = 'what was there before\n'
const DAILY = 'export BTCUSDT -i 1d --mirror mirror'

/** A sandbox whose mirror has the sample's daily candles. */
async function sandboxWithDays(): Promise<CliSandbox> {
  const sandbox = newSandbox()
  const download = 'download BTCUSDT ETHUSDT -i 1d --base-url sample --mirror mirror -q'
  expect(await sandbox.call(download.split(' '))).toMatchObject({ code: 0 })
  sandbox.write('old.csv', OLD)
  return sandbox
}

describe.concurrent('exit code 2: wrong usage, and nothing is written', () => {
  let sandbox: CliSandbox
  let before: string[]
  beforeAll(async () => {
    sandbox = await sandboxWithDays()
    before = sandbox.files()
  })

  it.each<[string, string, RegExp[]]>([
    ['a dry run over an existing file', `${DAILY} -o old.csv --dry-run`, [/old\.csv exists already/, /--force/]],
    ['a flag that shapes a missing output', 'download BTCUSDT -i 1d --base-url sample --columns close', [/-o/]],
    ['an empty --mirror', 'export BTCUSDT -i 1d -o x.csv --mirror=', [/--mirror is empty/]],
    ['--partial without --resample', `${DAILY} -o x.csv --partial`, [/--partial/, /Add --resample/]],
    [
      'a download with --partial alone',
      'download BTCUSDT -i 1d --base-url sample --mirror m --partial',
      [/Add --resample/],
    ],
    ['a misspelt symbol', 'export BTCUSD -i 1d -o x.csv', [/BTCUSD"/, /Did you mean BTCUSDT\?/]],
    ['a misspelt symbol among others', 'export BTCUSDT ETHUSTD -i 1d -o x.csv', [/ETHUSTD/, /ETHUSDT\?/]],
    ['1m of a mirror without it', 'export BTCUSDT -i 1m --mirror mirror -o x.csv', [/no 1m candles/, /1M \(a month\)/]],
    ['3m of the public service', 'download BTCUSDT -i 3m --mirror m', [/no 3m candles.*15m,/, /--base-url binance/]],
    [
      '5m of the sample',
      'download BTCUSDT -i 5m --base-url sample --mirror m',
      [/no 5m candles/, /--base-url binance/],
    ],
    ['seconds', 'download BTCUSDT -i 1s', [/"1s"/, /https:\/\/data\.binance\.vision/]],
    ['1H, which is not 1h', 'export BTCUSDT -i 1H -o x.csv', [/"1H"/, /Did you mean 1h\?/]],
    ['--from after --to', `${DAILY} -o x.csv --from 2025-03 --to 2025-02`, [/2025-03-01/, /2025-02-01/]],
    ['--from at --to', `${DAILY} -o x.csv --from 2025-03 --to 2025-03`, [/empty/]],
    ['31 February', `${DAILY} -o x.csv --from 2025-02-31`, [/2025-02-31/, /no such day/]],
    ['a date in another order', `${DAILY} -o x.csv --to 31.12.2025`, [/31\.12\.2025/, /YYYY-MM-DD/]],
    ['--from together with --last', `${DAILY} -o x.csv --from 2025 --last 3d`, [/--from and --last/]],
    ['--last without a unit', `${DAILY} -o x.csv --last 90`, [/"90"/, /90d/]],
    ['-o with the name of a folder', `${DAILY} -f csv -o mirror`, [/mirror is a folder/]],
    ['an existing file', `${DAILY} -o old.csv`, [/old\.csv exists/, /--force/]],
    ['an unknown file ending', `${DAILY} -o x.txt`, [/x\.txt/, /\.csv/, /-f/]],
    ['gzip around Parquet', `${DAILY} -o x.parquet.gz`, [/x\.parquet\?/]],
    ['an unknown format', `${DAILY} -f xml`, [/xml/, /parquet/]],
    ['an unknown placeholder', `${DAILY} -o {pair}.csv`, [/\{pair\}/, /\{symbol\}/]],
    ['an unknown column', `${DAILY} -o x.csv --columns open_time,Clse`, [/"Clse"/, /close\?/]],
    ['a repeated column', `${DAILY} -o x.csv --columns open,open`, [/"open"/, /twice/]],
    ['--numbers double for text', `${DAILY} -o x.csv --numbers double`, [/--numbers double/, /parquet/]],
    ['--numbers decimal for jsonl', `${DAILY} -o x.jsonl --numbers decimal`, [/--numbers decimal/, /jsonl/]],
    ['--time-format iso for Parquet', `${DAILY} -o x.parquet --time-format iso`, [/--time-format iso/, /parquet/]],
    ['json of several series', 'export BTCUSDT ETHUSDT -i 1d --mirror mirror -o x.json', [/2 series/, /\{symbol\}/]],
    ['json of several series to stdout', 'export all -i 1d --mirror mirror', [/2 series/, /jsonl/]],
    ['an unknown flag', `${DAILY} --nope`, [/--nope/]],
    ['a flag of another command', `${DAILY} --refresh`, [/--refresh/]],
    ['no symbol', 'export -i 1d', [/Missing SYMBOL\./]],
    ['no interval', 'export BTCUSDT', [/Missing -i INTERVAL\./]],
    ['no interval for start-dates', 'start-dates', [/Missing INTERVAL\./]],
    ['an unknown interval for start-dates', 'start-dates 7m', [/"7m"/]],
    ['a base address without a scheme', 'download BTCUSDT -i 1d --base-url example.test', [/http:\/\/example\.test/]],
    ['a base address of another scheme', 'download BTCUSDT -i 1d --base-url ftp://example.test', [/ftp:/]],
    ['a base address with /api', 'download BTCUSDT -i 1d --base-url http://h.test/k/api', [/http:\/\/h\.test\/k\?/]],
    ['a base address with a password', 'download BTCUSDT -i 1d --base-url http://a:b@h.test', [/password/]],
    [
      '--concurrency 0',
      'download BTCUSDT -i 1d --base-url sample --mirror m --concurrency 0',
      [/--concurrency/, /256/],
    ],
    [
      '--retries -1',
      'download BTCUSDT -i 1d --base-url sample --mirror m --retries=-1',
      [/--retries is -1/, /0 to 100/],
    ],
    ['--retries many', 'download BTCUSDT -i 1d --base-url sample --mirror m --retries many', [/--retries/, /many/]],
    ['--timeout 0', 'symbols --base-url sample --mirror m --timeout 0', [/--timeout is 0/, /seconds/]],
    ['--timeout 5s', 'download BTCUSDT -i 1d --base-url sample --mirror m --timeout 5s', [/--timeout/, /5s/]],
    ['a pattern that matches nothing', 'export XYZ* -i 1d --mirror mirror', [/"XYZ\*"/, /BTCUSDT, ETHUSDT/]],
    ['a pattern that a shell replaced', 'export BTCUSDT.csv -i 1d --mirror mirror', [/Quote a pattern/]],
    ['--concurrency many', 'download BTCUSDT -i 1d --base-url sample --mirror m --concurrency many', [/many/]],
    [
      'a mirror of another address',
      'download BTCUSDT -i 1d --mirror mirror --base-url http://127.0.0.1:9',
      [/mirror of sample/, /http:\/\/127\.0\.0\.1:9/, /--mirror/],
    ],
    [
      'an export from a mirror of another address',
      `${DAILY} --base-url http://127.0.0.1:9 -o x.csv`,
      [/mirror of sample/, /http:\/\/127\.0\.0\.1:9/],
    ],
  ])('%s', async (_, command, messages) => {
    const run = await sandbox.call(command.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    for (const message of messages) expect(run.stderr).toMatch(message)
    expect(sandbox.files()).toEqual(before)
    expect(sandbox.text('old.csv')).toBe(OLD)
  })

  it.each([
    ['an unknown command', 'dowload BTCUSDT -i 1d', /dowload/],
    ['an argument too many', 'mirror publish extra', /extra/],
    ['an unknown flag', `${DAILY} --nope`, /--nope/],
    ['an existing file', `${DAILY} -o old.csv`, /old\.csv exists.*\n.*--force/],
  ])('the real binary: %s', async (_, command, message) => {
    expect(await sandbox.run(command.split(' '))).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    })
  })
})

describe('exit code 3: a requested window is missing or could not be downloaded', () => {
  it.concurrent('an export names the window that is missing in the mirror, and leaves the old file', async () => {
    const sandbox = newSandbox()
    const download = 'download BTCUSDT -i 1h --base-url sample --mirror mirror -q'
    expect(await sandbox.call(download.split(' '))).toMatchObject({ code: 0 })
    sandbox.write('old.csv', OLD)
    const path = sandbox.path('mirror/api/klines/1h/BTCUSDT/2025-02-01.json')
    await sandbox.shell(`rm '${path}'`)
    const before = sandbox.files()
    const run = await sandbox.call('export BTCUSDT -i 1h --mirror mirror --force -o old.csv'.split(' '))
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/BTCUSDT 1h 2025-02-01/)
    expect(run.stderr).toMatch(/klines download/)
    expect(sandbox.text('old.csv')).toBe(OLD)
    expect(sandbox.files()).toEqual(before)

    await sandbox.shell(`printf '[[1735689600000' > '${path}'`)
    const corrupt = await sandbox.call('export BTCUSDT -i 1h --mirror mirror -o new.csv'.split(' '))
    expect(corrupt).toMatchObject({ code: 3, stdout: '' })
    expect(corrupt.stderr).toMatch(/BTCUSDT 1h 2025-02-01/)
    const outside = 'export BTCUSDT -i 1h --mirror mirror --from 2025-03 --to 2025-04 -o march.csv'
    expect(await sandbox.call(outside.split(' '))).toMatchObject({ code: 0 })
  })

  it.concurrent('an export without a mirror says how to make one', async () => {
    const run = await newSandbox().call('export BTCUSDT -i 1h --mirror none -o x.csv'.split(' '))
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/none[\s\S]*klines download/)
  })

  it('a download stores the other windows, exports nothing, and the next one requests only the rest', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const lost = weekPath('BTCUSDT', FULL_WEEKS[2])
    server.always(lost, { status: 404, body: '{"statusCode":404,"message":"Gone fishing","isError":true}' })
    sandbox.write('old.csv', OLD)
    const args = ['download', 'all', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '--force', '-o', 'old.csv']
    const run = await sandbox.call(args)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/^klines: 1 of 16 windows /m)
    expect(run.stderr).toContain(`1 x status 404: Gone fishing (BTCUSDT 15m ${FULL_WEEKS[2]})\n`)
    expect(sandbox.text('old.csv')).toBe(OLD)
    const cached = SYMBOLS.flatMap(symbol => START_DATES.map(date => weekPath(symbol, date))).filter(
      path => path !== lost,
    )
    expect(sandbox.files('m').filter(name => /\d\.json$/.test(name))).toEqual(cached.sort())
    expect(server.paths().filter(path => path === lost)).toHaveLength(1)

    server.reset()
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    expect(server.paths('windows')).toContain(lost)
    expect(server.paths('windows')).not.toContain(weekPath('BTCUSDT', FULL_WEEKS[1]))
    expect(sandbox.text('old.csv')).not.toBe(OLD)
  })

  it('several windows with the same cause are one line with a count', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    for (const date of FULL_WEEKS) server.always(weekPath('BTCUSDT', date), { status: 404, body: '' })
    const run = await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url])
    expect(run.code).toBe(3)
    expect(run.stderr.match(/404/g)).toHaveLength(1)
    expect(run.stderr).toMatch(/5 x .*and 2 more/)
  })

  it('a window of the wrong shape is rejected with row and element, and not stored', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const rows: unknown[][] = weekRows(FULL_WEEKS[0])
    rows[3][5] = 3.5
    const path = weekPath('BTCUSDT', FULL_WEEKS[0])
    server.always(path, { body: JSON.stringify(rows) })
    const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-o', 'x.csv']
    const run = await sandbox.call(args)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/row 3\b.*element 5\b|element 5\b.*row 3\b/)
    expect(sandbox.exists(`m/${path}`)).toBe(false)
    expect(sandbox.exists('x.csv')).toBe(false)
  })

  it('a list of start dates that points outside the mirror is rejected', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    server.always('api/klines/start-dates/15m.json', { body: JSON.stringify([EMPTY_WEEK, '../../../../escaped']) })
    const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-o', 'x.csv']
    const run = await sandbox.call(args)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/entry 1/)
    expect(server.paths('windows')).toEqual([])
    expect(sandbox.files().filter(name => name.includes('escaped'))).toEqual([])
  })
})

describe('exit code 4: no candle in the range', () => {
  it.concurrent('neither an export nor a download writes a file, and an old one stays', async () => {
    const sandbox = await sandboxWithDays()
    const before = sandbox.files()
    const range = ['--from', '2024-01', '--to', '2024-02']
    const DOWNLOAD = 'download BTCUSDT -i 1d --base-url sample --mirror mirror'.split(' ')
    const runs = await Promise.all([
      sandbox.call([...DAILY.split(' '), ...range, '-o', 'x.csv']),
      sandbox.call([...DAILY.split(' '), ...range, '-o', 'old.csv', '--force']),
      sandbox.call([...DAILY.split(' '), ...range]),
      sandbox.call([...DOWNLOAD, ...range, '-o', 'x.csv']),
      sandbox.call([...DOWNLOAD, ...range]),
    ])
    for (const run of runs) {
      expect(run).toMatchObject({ code: 4, stdout: '' })
      expect(run.stderr).toMatch(/BTCUSDT 1d.*2024-01-01T.*2024-02-01T/)
    }
    expect(sandbox.files()).toEqual(before)
    expect(sandbox.text('old.csv')).toBe(OLD)
  })
})

describe('exit code 5: the service is unreachable', () => {
  it.concurrent('a refused connection is retried, then the message says what to do', async () => {
    const sandbox = newSandbox()
    const address = `http://127.0.0.1:${await closedPort()}`
    const run = await sandbox.call(['download', 'BTCUSDT', '-i', '1h', '--base-url', address, '-o', 'x.csv'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    for (const text of [address, 'refused', '--base-url', '--base-url sample', 'klines export']) {
      expect(run.stderr).toContain(text)
    }
    expect(sandbox.exists('x.csv')).toBe(false)
  })

  it('a Retry-After of a day ends the run at once and names the time', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    server.always(weekPath('BTCUSDT', STARTED[0]), { status: 429, headers: { 'retry-after': '86400' }, body: '' })
    const run = await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--concurrency', '1'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    const until = Date.parse(/until (\S+Z)/.exec(run.stderr)?.[1] ?? '')
    expect(until).toBeGreaterThanOrEqual(PRESENT + 86_399_000)
    expect(until).toBeLessThanOrEqual(PRESENT + run.tookMs + 86_401_000)
    expect(server.paths('windows')).toEqual([weekPath('BTCUSDT', STARTED[0])])
    expect(run.tookMs).toBeLessThan(20_000)
  })

  it('an address that responds with web pages is no service', async () => {
    const sandbox = newSandbox()
    const server = await TreeServer.start(tempFolder())
    server.always('api/klines/start-dates/15m.json', { body: '<!DOCTYPE html><p>Log in to this network</p>' })
    const run = await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '-o', 'x.csv'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(/JSON/)
    expect(sandbox.exists('x.csv')).toBe(false)
  })
})
