import { createServer } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { TreeServer } from '../support/servers/tree-server.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  makeTree,
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

/** A sandbox with a mirror of the sample's daily candles. */
async function stockedSandbox(): Promise<CliSandbox> {
  const sandbox = newSandbox()
  expect(
    await sandbox.run('download BTCUSDT ETHUSDT -i 1d --base-url sample --mirror mirror -q'.split(' ')),
  ).toMatchObject({
    code: 0,
  })
  sandbox.write('old.csv', OLD)
  return sandbox
}

/** An address where nobody listens. */
async function deadAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

describe.concurrent('exit code 2, bad usage, with nothing written', () => {
  let sandbox: CliSandbox
  let before: string[]
  beforeAll(async () => {
    sandbox = await stockedSandbox()
    before = sandbox.files()
  })

  it.each<[string, string, RegExp[]]>([
    ['a dry run into a folder there is not', `${DAILY} -o none/x.csv --dry-run`, [/none\/x\.csv/]],
    ['a dry run over a file that is there', `${DAILY} -o old.csv --dry-run`, [/old\.csv exists already/, /--force/]],
    ['a flag that shapes an output there is not', 'download BTCUSDT -i 1d --base-url sample --columns close', [/-o/]],
    ['an empty --mirror', 'export BTCUSDT -i 1d -o x.csv --mirror=', [/--mirror is empty/]],
    ['a misspelt symbol', 'export BTCUSD -i 1d -o x.csv', [/BTCUSD"/, /Did you mean BTCUSDT\?/]],
    ['one misspelt symbol among others', 'export BTCUSDT ETHUSTD -i 1d -o x.csv', [/ETHUSTD/, /ETHUSDT\?/]],
    ['1m, which is not 1M', 'export BTCUSDT -i 1m -o x.csv', [/"1m"/, /1M/]],
    ['1H, which is not 1h', 'export BTCUSDT -i 1H -o x.csv', [/"1H"/, /Did you mean 1h\?/]],
    ['--from after --to', `${DAILY} -o x.csv --from 2025-03 --to 2025-02`, [/2025-03-01/, /2025-02-01/]],
    ['--from at --to', `${DAILY} -o x.csv --from 2025-03 --to 2025-03`, [/empty/]],
    ['31 February', `${DAILY} -o x.csv --from 2025-02-31`, [/2025-02-31/, /no such day/]],
    ['a date in another order', `${DAILY} -o x.csv --to 31.12.2025`, [/31\.12\.2025/, /YYYY-MM-DD/]],
    ['--from together with --last', `${DAILY} -o x.csv --from 2025 --last 3d`, [/--from and --last/]],
    ['--last without a unit', `${DAILY} -o x.csv --last 90`, [/"90"/, /90d/]],
    ['-o into a folder there is not', `${DAILY} -o none/x.csv`, [/none\/x\.csv/, /mkdir -p none/]],
    ['-o at a folder', `${DAILY} -f csv -o mirror`, [/mirror is a folder/]],
    ['a file that exists', `${DAILY} -o old.csv`, [/old\.csv exists/, /--force/]],
    ['an ending that tells no format', `${DAILY} -o x.txt`, [/x\.txt/, /\.csv/, /-f/]],
    ['Parquet in gzip', `${DAILY} -o x.parquet.gz`, [/x\.parquet\?/]],
    ['an unknown format', `${DAILY} -f xml`, [/xml/, /parquet/]],
    ['an unknown placeholder', `${DAILY} -o {pair}.csv`, [/\{pair\}/, /\{symbol\}/]],
    ['an unknown column', `${DAILY} -o x.csv --columns open_time,Clse`, [/"Clse"/, /close\?/]],
    ['a column asked for twice', `${DAILY} -o x.csv --columns open,open`, [/"open"/, /twice/]],
    ['--numbers double for text', `${DAILY} -o x.csv --numbers double`, [/--numbers double/, /parquet/]],
    ['--numbers decimal for jsonl', `${DAILY} -o x.jsonl --numbers decimal`, [/--numbers decimal/, /jsonl/]],
    ['--time-format iso for Parquet', `${DAILY} -o x.parquet --time-format iso`, [/--time-format iso/, /parquet/]],
    ['json of several series', 'export BTCUSDT ETHUSDT -i 1d --mirror mirror -o x.json', [/2 series/, /\{symbol\}/]],
    ['json of several series to stdout', 'export all -i 1d --mirror mirror', [/2 series/, /jsonl/]],
    ['an unknown flag', `${DAILY} --nope`, [/--nope/]],
    ['a flag of another command', `${DAILY} --refresh`, [/--refresh/]],
    ['no symbol', 'export -i 1d', [/symbol/]],
    ['no interval', 'export BTCUSDT', [/interval/]],
    ['no interval for start-dates', 'start-dates', [/interval/]],
    ['an unknown interval for start-dates', 'start-dates 5m', [/"5m"/]],
    ['an argument too many', 'mirror status extra', [/extra/]],
    ['an unknown command', 'dowload BTCUSDT -i 1d', [/dowload/]],
    ['a base address without a scheme', 'download BTCUSDT -i 1d --base-url example.test', [/http:\/\/example\.test/]],
    ['a base address of another scheme', 'download BTCUSDT -i 1d --base-url ftp://example.test', [/ftp:/]],
    ['a base address with /api', 'download BTCUSDT -i 1d --base-url http://h.test/k/api', [/http:\/\/h\.test\/k\?/]],
    ['a base address with a password', 'download BTCUSDT -i 1d --base-url http://a:b@h.test', [/password/]],
    [
      '--concurrency 0',
      'download BTCUSDT -i 1d --base-url sample --mirror m --concurrency 0',
      [/--concurrency/, /256/],
    ],
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
  ])('%s', async (_, command, said) => {
    const run = await sandbox.run(command.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    for (const words of said) expect(run.stderr).toMatch(words)
    expect(sandbox.files()).toEqual(before)
    expect(sandbox.text('old.csv')).toBe(OLD)
  })
})

describe('exit code 3, something asked for could not be had', () => {
  it.concurrent('an export names the window that the mirror lacks, and leaves the old file', async () => {
    const sandbox = newSandbox()
    const download = 'download BTCUSDT -i 1h --base-url sample --mirror mirror -q'
    expect(await sandbox.run(download.split(' '))).toMatchObject({ code: 0 })
    sandbox.write('old.csv', OLD)
    const path = sandbox.path('mirror/api/klines/1h/BTCUSDT/2025-02-01.json')
    await sandbox.shell(`rm '${path}'`)
    const before = sandbox.files()
    const run = await sandbox.run('export BTCUSDT -i 1h --mirror mirror --force -o old.csv'.split(' '))
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/BTCUSDT 1h 2025-02-01/)
    expect(run.stderr).toMatch(/klines download/)
    expect(sandbox.text('old.csv')).toBe(OLD)
    expect(sandbox.files()).toEqual(before)

    await sandbox.shell(`printf '[[1735689600000' > '${path}'`)
    const broken = await sandbox.run('export BTCUSDT -i 1h --mirror mirror -o new.csv'.split(' '))
    expect(broken).toMatchObject({ code: 3, stdout: '' })
    expect(broken.stderr).toMatch(/BTCUSDT 1h 2025-02-01/)
    const outside = 'export BTCUSDT -i 1h --mirror mirror --from 2025-03 --to 2025-04 -o march.csv'
    expect(await sandbox.run(outside.split(' '))).toMatchObject({ code: 0 })
  })

  it.concurrent('an export without any mirror says how to make one', async () => {
    const run = await newSandbox().run('export BTCUSDT -i 1h --mirror none -o x.csv'.split(' '))
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/none[\s\S]*klines download/)
  })

  it('a download keeps the windows it had, exports nothing, and goes on from there the next time', async () => {
    const sandbox = newSandbox()
    const server = await TreeServer.start(makeTree(tempFolder()))
    const [lost] = [weekPath('BTCUSDT', FULL_WEEKS[2])]
    server.always(lost, { status: 404, body: '{"statusCode":404,"message":"Gone fishing","isError":true}' })
    sandbox.write('old.csv', OLD)
    const args = ['download', 'all', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '--force', '-o', 'old.csv']
    const run = await sandbox.run(args)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/^klines: 1 of 16 windows /)
    expect(run.stderr).toContain(`1 x status 404: Gone fishing (BTCUSDT 15m ${FULL_WEEKS[2]})\n`)
    expect(sandbox.text('old.csv')).toBe(OLD)
    const held = SYMBOLS.flatMap(symbol => START_DATES.map(date => weekPath(symbol, date))).filter(
      path => path !== lost,
    )
    expect(sandbox.files('m').filter(name => /\d\.json$/.test(name))).toEqual(held.sort())
    expect(server.paths().filter(path => path === lost)).toHaveLength(1)

    server.reset()
    expect(await sandbox.run(args)).toMatchObject({ code: 0, stderr: '' })
    expect(server.paths('windows')).toContain(lost)
    expect(server.paths('windows')).not.toContain(weekPath('BTCUSDT', FULL_WEEKS[1]))
    expect(sandbox.text('old.csv')).not.toBe(OLD)
  })

  it('the same cause for several windows is one line with a count', async () => {
    const sandbox = newSandbox()
    const server = await TreeServer.start(makeTree(tempFolder()))
    for (const date of FULL_WEEKS) server.always(weekPath('BTCUSDT', date), { status: 404, body: '' })
    const run = await sandbox.run(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url])
    expect(run.code).toBe(3)
    expect(run.stderr.match(/404/g)).toHaveLength(1)
    expect(run.stderr).toMatch(/5 x .*and 2 more/)
  })

  it('a window of the wrong shape is refused with row and element, and never stored', async () => {
    const sandbox = newSandbox()
    const server = await TreeServer.start(makeTree(tempFolder()))
    const rows: unknown[][] = weekRows(FULL_WEEKS[0])
    rows[3][5] = 3.5
    const path = weekPath('BTCUSDT', FULL_WEEKS[0])
    server.always(path, { body: JSON.stringify(rows) })
    const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-o', 'x.csv']
    const run = await sandbox.run(args)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/row 3\b.*element 5\b|element 5\b.*row 3\b/)
    expect(sandbox.exists(`m/${path}`)).toBe(false)
    expect(sandbox.exists('x.csv')).toBe(false)
  })

  it('a list of start dates that tries to leave the mirror is refused', async () => {
    const sandbox = newSandbox()
    const server = await TreeServer.start(makeTree(tempFolder()))
    server.always('api/klines/start-dates/15m.json', { body: JSON.stringify([EMPTY_WEEK, '../../../../escaped']) })
    const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-o', 'x.csv']
    const run = await sandbox.run(args)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/entry 1/)
    expect(server.paths('windows')).toEqual([])
    expect(sandbox.files().filter(name => name.includes('escaped'))).toEqual([])
  })
})

describe('exit code 4, no candle in the range', () => {
  it.concurrent('no file is made, by an export or by a download, and an old one stays', async () => {
    const sandbox = await stockedSandbox()
    const before = sandbox.files()
    const range = ['--from', '2024-01', '--to', '2024-02']
    const runs = await Promise.all([
      sandbox.run([...DAILY.split(' '), ...range, '-o', 'x.csv']),
      sandbox.run([...DAILY.split(' '), ...range, '-o', 'old.csv', '--force']),
      sandbox.run([...DAILY.split(' '), ...range]),
      sandbox.run([
        'download',
        'BTCUSDT',
        '-i',
        '1d',
        '--base-url',
        'sample',
        '--mirror',
        'mirror',
        ...range,
        '-o',
        'x.csv',
      ]),
      sandbox.run(['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '--mirror', 'mirror', ...range]),
    ])
    for (const run of runs) {
      expect(run).toMatchObject({ code: 4, stdout: '' })
      expect(run.stderr).toMatch(/BTCUSDT 1d.*2024-01-01T.*2024-02-01T/)
    }
    expect(sandbox.files()).toEqual(before)
    expect(sandbox.text('old.csv')).toBe(OLD)
  })
})

describe('exit code 5, the service is away', () => {
  it.concurrent('a refused connection is tried again, then the ways on are named', async () => {
    const sandbox = newSandbox()
    const address = await deadAddress()
    const run = await sandbox.run(['download', 'BTCUSDT', '-i', '1h', '--base-url', address, '-o', 'x.csv'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    for (const words of [address, 'refused', '--base-url', '--base-url sample', 'klines export']) {
      expect(run.stderr).toContain(words)
    }
    expect(sandbox.exists('x.csv')).toBe(false)
  })

  it('a Retry-After of a day ends the run at once and says until when', async () => {
    const sandbox = newSandbox()
    const server = await TreeServer.start(makeTree(tempFolder()))
    server.always(weekPath('BTCUSDT', STARTED[0]), { status: 429, headers: { 'retry-after': '86400' }, body: '' })
    const started = Date.now()
    const run = await sandbox.run(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--concurrency', '1'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    const until = Date.parse(/until (\S+Z)/.exec(run.stderr)?.[1] ?? '')
    expect(until).toBeGreaterThanOrEqual(started + 86_399_000)
    expect(until).toBeLessThanOrEqual(Date.now() + 86_401_000)
    expect(server.paths('windows')).toEqual([weekPath('BTCUSDT', STARTED[0])])
    expect(run.tookMs).toBeLessThan(20_000)
  })

  it('an address that answers with web pages is no service', async () => {
    const sandbox = newSandbox()
    const server = await TreeServer.start(tempFolder())
    server.always('api/klines/start-dates/15m.json', { body: '<!DOCTYPE html><p>Log in to this network</p>' })
    const run = await sandbox.run(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '-o', 'x.csv'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(/JSON/)
    expect(sandbox.exists('x.csv')).toBe(false)
  })
})
