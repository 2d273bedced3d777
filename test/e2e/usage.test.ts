import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { wrapLines } from '../../src/cli/terminal/text.js'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'

const newSandbox = useSandboxes()
const LIST = 'Run klines --help for a list of commands.'

describe.concurrent('an unknown command', () => {
  it.each([
    ['miror publish', `Unknown command: miror publish. Did you mean mirror publish?\n  ${LIST}`],
    ['mirror publsh -q', 'Unexpected argument: publsh.\n  Run klines mirror --help for more.'],
    ['donwload --help', `Unknown command: donwload. Did you mean download?\n  ${LIST}`],
    ['-q download', `Expected a command before -q.\n  ${LIST}`],
  ])('klines %s', async (args, message) => {
    const run = await newSandbox().call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: `klines: ${message}\n` })
  })

  it('is an error of the real program, too', async () => {
    const stderr = `klines: Unknown command: donwload. Did you mean download?\n  ${LIST}\n`
    expect(await newSandbox().run(['donwload', 'BTCUSDT', '-i', '1h'])).toMatchObject({ code: 2, stdout: '', stderr })
  })

  it.skipIf(!hasScript)('is not asked about at a terminal (skipped without script of util-linux)', async () => {
    // The keyboard stays open: a question would wait until the run is killed.
    const run = await atTerminal(newSandbox(), 'klines donwload BTCUSDT -i 1h')
    expect(run.stdout).toBe(`klines: Unknown command: donwload. Did you mean download?\r\n  ${LIST}\r\n`)
    expect(run.code).toBe(2)
  })
})

describe.concurrent('a misspelt flag or value is suggested', () => {
  it.each([
    ['export BTCUSDT -i 1d --formt csv', 'Unknown flag: --formt.', 'Did you mean --format?'],
    ['export BTCUSDT -i 1d --begin 2024', 'Unknown flag: --begin.', 'Did you mean --from?'],
    ['export BTCUSDT -i 1d --Until=2024', 'Unknown flag: --Until=2024.', 'Did you mean --to?'],
    ['export BTCUSDT -i 1d --colums x --nope', 'Unknown flags: --colums, --nope.', 'Did you mean --columns?'],
  ])('klines %s', async (args, message, suggestion) => {
    const run = await newSandbox().call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr.startsWith(`klines: ${message}`)).toBe(true)
    expect(run.stderr).toContain(`\n  ${suggestion}\n`)
  })
})

describe.concurrent('a bare command shows its usage, examples and all that is missing', () => {
  it.each([
    ['download', 'SYMBOL and -i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
    ['start-dates', 'INTERVAL', 'INTERVAL [FLAGS]'],
    ['download BTCUSDT', '-i INTERVAL', 'SYMBOL... -i INTERVAL... [FLAGS]'],
  ])('klines %s', async (args, missing, usage) => {
    const run = await newSandbox().call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '' })
    const command = args.replace(/ BTCUSDT| -i 1h/, '')
    const [first, second, ...rest] = run.stderr.trimEnd().split('\n')
    expect(first).toBe(`klines: Missing ${missing}.`)
    expect(second).toBe(`  Usage: klines ${command} ${usage}`)
    expect(rest.pop()).toBe(`  Run klines ${command} --help for more.`)
    expect([1, 2]).toContain(rest.length)
    expect(rest.every(line => line.startsWith(`  Example: klines ${command} `))).toBe(true)
  })

  it('an argument is not read from stdin', async () => {
    const run = await newSandbox().shell('echo 1d | klines start-dates --base-url sample')
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('Missing INTERVAL.') })
  })
})

it('--since, --start, --end and --timeframe are --from, --to and --interval', async () => {
  const sandbox = newSandbox()
  const download = (words: string) =>
    sandbox.call(`download BTCUSDT ${words} -f csv --base-url sample --mirror m`.split(' '))
  const run = await download('-i 1d --from 2025-01 --to 2025-02')
  expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^open_time,/) })
  for (const start of ['--since', '--start'])
    expect((await download(`--timeframe 1d ${start} 2025-01 --end=2025-02`)).stdout).toBe(run.stdout)
  expect((await sandbox.call(['download', '--help'])).stdout).not.toMatch(/--(since|start|end|timeframe)\b/)
})

describe.concurrent('what people type from habit is refused with what it is here', () => {
  const exported = 'download BTCUSDT -i 1d --base-url sample'
  it.each([
    ['get BTCUSDT', 'Did you mean download?'],
    ['fetch BTCUSDT', 'Did you mean download?'],
    ['check BTCUSDT', 'Did you mean verify?'],
    ['plot BTCUSDT', 'Did you mean chart?'],
    ['download-data --pairs BTC/USDT', 'Did you mean download?'],
    ['list-data', 'Did you mean mirror?'],
    ['BTC/USDT 1H', 'Did you mean klines download BTC/USDT -i 1h?'],
    ['BTCUSDT', 'Did you mean klines download BTCUSDT -i 1h?'],
    ['BTCUSDT -i 4h', 'Did you mean klines download BTCUSDT -i 4h?'],
    ['download BTC/USDT 1h', 'Did you mean klines download BTC/USDT -i 1h?'],
    ['download BTCUSDT -i 1h 1D --base-url sample', 'Did you mean klines download BTCUSDT -i 1h,1d?'],
    ['download --pairs BTC/USDT -i 1h', 'Symbols need no flag, as in klines download BTCUSDT -i 1h.'],
    ['download BTCUSDT -t 1h', 'Did you mean -i?'],
    ['download BTCUSDT -i 1h --exchange binance', 'Did you mean --base-url?'],
    ['verify all -i 1h -exchange binance', 'Unknown flag: -exchange.'],
    [`${exported} --output-dir data`, 'Did you mean --output?'],
    [`${exported} --days 3`, 'Did you mean --last?'],
    [`${exported} --overwrite`, 'Did you mean --force?'],
    [`${exported} --timerange 20250101-`, 'Name both ends: --from 2025-01-01 --to 2025-02-01.'],
    [`${exported} --from 20250101`, 'Did you mean 2025-01-01?'],
    [`${exported} --from 2025/01/01`, 'Did you mean 2025-01-01?'],
    [`${exported} --from 2025-1-1`, 'Did you mean 2025-01-01?'],
    [`${exported} --last 1Y`, 'Did you mean 1y?'],
    [`${exported} --last 30days`, 'Did you mean 30d?'],
    [`${exported} --last 6mo`, 'Did you mean 6M?'],
    ['export BTC/USDT:USDT -i 1d', 'Did you mean BTCUSDT?'],
    ['export BINANCE:BTCUSDT -i 1d', 'Did you mean BTCUSDT?'],
    ['export BTCUSDT -i M', 'Did you mean 1M (a month)?'],
    ['export BTCUSDT -i 1Q', '--resample 1q makes such candles of shorter ones: -i 1M'],
    ['export BTCUSDT -i 1min', 'Did you mean 1m (a minute)?'],
  ])('klines %s', async (args, suggestion) => {
    const run = await newSandbox().call(args.split(' '))
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(suggestion) })
  })
})

describe.concurrent('times, at noon of 20 February 2025', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = newSandbox()
    await sandbox.call('download BTCUSDT -i 1d --base-url sample --mirror m -q'.split(' '))
    sandbox.now = Date.UTC(2025, 1, 20, 12)
  })

  // The candles open at midnight of UTC.
  it.each([
    ['--from yesterday --to today', '2025-02-19', 1],
    ['--from=-7d --to=-1d', '2025-02-14', 6],
    ['--to -1M --from 2025', '2025-01-01', 20],
    ['--from 1738368000 --to 1738454400000', '2025-02-01', 1],
    ['--to yesterday --last 3d', '2025-02-16', 3],
    ['--from 2025-01-01T12:00:00.000000 --limit 1', '2025-01-02', 1],
    ['--last 2880m --to 2025-01-05', '2025-01-03', 2],
  ])('%s', async (range, first, days) => {
    const run = await sandbox.call(`export BTCUSDT -i 1d --mirror m -f json ${range}`.split(' '))
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const times = JSON.parse(run.stdout).map(([openTime]: number[]) => openTime)
    expect(times).toEqual(Array.from({ length: days }, (_, day) => Date.parse(first) + day * 86_400_000))
  })
})

describe.concurrent('a leading ~ is the home folder', () => {
  it.each([
    ['--mirror=~/candles', {}, ''],
    ['', { KLINES_MIRROR: '~/candles' }, ''],
    ['', {}, '~/candles'],
  ])('%s %o %s', async (flag, env, setting) => {
    const sandbox = newSandbox()
    if (setting) await sandbox.call(['config', 'set', 'mirror', setting])
    const run = await sandbox.call(['mirror', '--path', ...(flag ? [flag] : [])], env)
    expect(run.stdout).toBe(`${sandbox.path('../home/candles')}\n`)
  })

  it("in the name of an output, too; the user's file keeps an absolute path", async () => {
    const sandbox = newSandbox()
    mkdirSync(sandbox.path('../home'), { recursive: true })
    const args = 'download BTCUSDT -i 1M --base-url sample --mirror m -o ~/x.csv --json'
    const run = await sandbox.call(args.split(' '))
    expect(JSON.parse(run.stdout).files).toMatchObject([{ path: sandbox.path('../home/x.csv') }])
    await sandbox.call(['config', 'set', 'mirror', 'candles'])
    expect((await sandbox.call(['mirror', '--path'])).stdout).toBe(`${sandbox.path('candles')}\n`)
  })
})

it('a Node that is too old is told so', async () => {
  const sandbox = newSandbox()
  for (const version of ['12.22.12', '20.9.0', '21.7.3', '22.2.0']) {
    const preload = sandbox.write('old.cjs', `Object.defineProperty(process.versions, 'node', { value: '${version}' })`)
    const run = await sandbox.node(['-r', preload, join(PROJECT, 'bin/run.js'), '--version'])
    const message = `klines: This is Node ${version}. Expected Node 20.18.1 or later of 20, or 22.3 or later.\n`
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: message })
  }
})

it('long lines of a terminal break at words', () => {
  expect(wrapLines('Note: one two three\n  four five six\nx', 12)).toBe(
    'Note: one\n  two three\n  four five\n    six\nx',
  )
  expect(wrapLines('averyveryverylongword and more', 12)).toBe('averyveryverylongword and more')
})
