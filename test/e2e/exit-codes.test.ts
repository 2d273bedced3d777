import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { closedPort } from '../support/servers/closed-port.js'
import { FULL_WEEKS, START_DATES, SYMBOLS, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const OLD = 'what was there before\n'
const DAILY = 'export BTCUSDT -i 1d --mirror mirror'
const ELSEWHERE = '--base-url http://127.0.0.1:9'
const OTHER_MIRROR = /mirror of sample.* http:\/\/127\.0\.0\.1:9/

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
    ['an existing file with other content', `${DAILY} -o old.csv`, [/old\.csv exists already/, /--force/]],
    ['a flag that shapes a missing output', 'download BTCUSDT -i 1d --base-url sample --columns close', [/-o/]],
    ['--partial without --resample', `${DAILY} -o x.csv --partial`, [/--partial/, /Add --resample/]],
    ['a misspelt symbol', 'export BTCUSD -i 1d -o x.csv', [/BTCUSD"/, /Did you mean BTCUSDT\?/]],
    ['1m of a mirror without it', 'export BTCUSDT -i 1m --mirror mirror -o x.csv', [/no 1m candles/, /1M \(a month\)/]],
    ['3m of the public service', 'download BTCUSDT -i 3m --mirror m', [/no 3m candles.*15m,/, /--base-url binance/]],
    ['seconds', 'download BTCUSDT -i 1s', [/"1s"/, /https:\/\/data\.binance\.vision/]],
    ['1H, which is not 1h', 'export BTCUSDT -i 1H -o x.csv', [/"1H"/, /Did you mean 1h\?/]],
    ['--from after --to', `${DAILY} -o x.csv --from 2025-03 --to 2025-02`, [/2025-03-01/, /2025-02-01/]],
    ['31 February', `${DAILY} -o x.csv --from 2025-02-31`, [/2025-02-31/, /no such day/]],
    ['--from together with --last', `${DAILY} -o x.csv --from 2025 --last 3d`, [/--from and --last/]],
    ['-o with the name of a folder', `${DAILY} -f csv -o mirror`, [/mirror is a folder/]],
    ['an existing file', `${DAILY} -o old.csv`, [/old\.csv exists/, /--force/]],
    ['an unknown file ending', `${DAILY} -o x.txt`, [/x\.txt/, /\.csv/, /-f/]],
    ['gzip around Parquet', `${DAILY} -o x.parquet.gz`, [/x\.parquet\?/]],
    ['an unknown placeholder', `${DAILY} -o {pair}.csv`, [/\{pair\}/, /\{symbol\}/]],
    ['an unknown column', `${DAILY} -o x.csv --columns open_time,Clse`, [/"Clse"/, /close\?/]],
    ['--numbers double for text', `${DAILY} -o x.csv --numbers double`, [/--numbers double/, /parquet/]],
    ['json of several series', 'export BTCUSDT ETHUSDT -i 1d --mirror mirror -o x.json', [/2 series/, /\{symbol\}/]],
    ['no symbol', 'export -i 1d', [/Missing SYMBOL\./]],
    ['a base address without a scheme', 'download BTCUSDT -i 1d --base-url example.test', [/https:\/\/example\.test/]],
    ['a base address with a password', 'download BTCUSDT -i 1d --base-url http://a:b@h.test', [/password/]],
    ['the greeting API of the exchange', 'openapi --base-url binance', [/"binance" is not a base address/]],
    ['--retries many', 'download BTCUSDT -i 1d --base-url sample --mirror m --retries many', [/--retries/, /many/]],
    ['--timeout 0', 'symbols --base-url sample --mirror m --timeout 0', [/--timeout is 0/, /seconds/]],
    ['a pattern that matches nothing', 'export XYZ* -i 1d --mirror mirror', [/"XYZ\*"/, /BTCUSDT, ETHUSDT/]],
    ['a mirror of another address', DAILY.replace('export', `download ${ELSEWHERE}`), [OTHER_MIRROR, /--mirror/]],
    ['an export from a mirror of another address', `${DAILY} ${ELSEWHERE} -o x.csv`, [OTHER_MIRROR]],
  ])('%s', async (_, command, messages) => {
    const run = await sandbox.call(command.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    for (const message of messages) expect(run.stderr).toMatch(message)
    expect(sandbox.files()).toEqual(before)
    expect(sandbox.text('old.csv')).toBe(OLD)
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
    const dry = await sandbox.call('export BTCUSDT -i 1h --mirror mirror --dry-run'.split(' '))
    expect(dry.stdout).toContain('Dry run: 1 window missing, so the export would fail; nothing was written.')
    expect(sandbox.text('old.csv')).toBe(OLD)
    expect(sandbox.files()).toEqual(before)

    await sandbox.shell(`printf '[[1735689600000' > '${path}'`)
    const corrupt = await sandbox.call('export BTCUSDT -i 1h --mirror mirror -o new.csv'.split(' '))
    expect(corrupt).toMatchObject({ code: 3, stdout: '' })
    expect(corrupt.stderr).toMatch(/BTCUSDT 1h 2025-02-01/)
    const outside = 'export BTCUSDT -i 1h --mirror mirror --from 2025-03 --to 2025-04 -o march.csv'
    expect(await sandbox.call(outside.split(' '))).toMatchObject({ code: 0 })
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
    const args = ['download', 'BTCUSDT', '-i', '1h', '--base-url', address, '-o', 'x.csv']
    const run = await sandbox.call(args, {}, { policy: { baseDelayMs: 10 } })
    expect(run).toMatchObject({ code: 5, stdout: '' })
    for (const text of [address, 'refused', 'tried 6 times', '--base-url', '--base-url sample', 'klines export'])
      expect(run.stderr).toContain(text)
    expect(sandbox.exists('x.csv')).toBe(false)
  })
})
