import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { PROMPT_MS, until } from '../support/deferred.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

const newSandbox = useSandboxes()
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** An exchange on which a minute has closed 13 s ago, so that its candle is due in 2 s, and a command that follows it. */
async function setup() {
  const present = Date.now()
  const from = present - (present % HOUR) - 24 * HOUR
  const made = { from, until: from + 72 * HOUR, minutes: 1 }
  const exchange = await ExchangeServer.start(madeMarket({ BTCUSDT: made, ETHUSDT: made }))
  const offset = 13_000 - (present % MINUTE)
  exchange.now = () => Date.now() + offset
  const sandbox = newSandbox()
  const source = ['--base-url', `binance:${exchange.url}`, '--mirror', 'm']
  const follow = ['follow', 'BTCUSDT', '-i', '1m', ...source]
  /** The open time of the candle that is due, ms UTC. */
  const due = exchange.time - (exchange.time % MINUTE) - MINUTE
  return { exchange, sandbox, source, follow, due }
}

/** The lines that an export of the mirror has from a time on. */
async function exported(sandbox: CliSandbox, args: string[], from: number, format = 'jsonl'): Promise<string> {
  const range = ['--from', new Date(from).toISOString(), '--mirror', 'm', '-f', format, '-o', '-']
  return (await sandbox.call(['export', ...args, ...range])).stdout
}

describe('klines follow', () => {
  it.each(['csv', 'jsonl'])('prints history and the candle that closes, as an export has them: %s', async format => {
    const { sandbox, follow, due } = await setup()
    const from = new Date(due - 5 * MINUTE).toISOString()
    const run = await sandbox.run([...follow, '--from', from, '--candles', '6', '-f', format])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toBe(await exported(sandbox, ['BTCUSDT', '-i', '1m'], due - 5 * MINUTE, format))
    expect(run.stdout.split('\n').at(-2)).toContain(String(due))
  })

  it('begins with the next candle of each series, and names the series in columns', async () => {
    const { sandbox, source, due } = await setup()
    const series = ['BTCUSDT', 'ETHUSDT', '-i', '1m']
    const columns = ['--columns', 'open_time,close']
    const run = await sandbox.run(['follow', ...series, ...source, ...columns, '-f', 'csv', '--candles', '2'])
    const [btc, eth] = ['BTCUSDT', 'ETHUSDT'].map(symbol => `${symbol},1m,${due},`)
    expect(run.stdout).toMatch(new RegExp(`^symbol,interval,open_time,close\n${btc}[\\d.]+\n${eth}[\\d.]+\n$`))
    expect(run).toMatchObject({ code: 0, stderr: '' })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends it with exit code %d', async (signal, code) => {
    const { sandbox, follow } = await setup()
    const { child, ended } = sandbox.start([...follow, '--last', '10m'])
    await new Promise(resolve => child.stdout?.once('data', resolve))
    const signalled = performance.now()
    child.kill(signal)
    const run = await ended
    expect(performance.now() - signalled).toBeLessThan(PROMPT_MS)
    expect(run).toMatchObject({ code, stderr: expect.stringContaining(`Interrupted (${signal}). What`) })
    expect(run.stdout.endsWith('\n')).toBe(true)
  })

  it('a reader that leaves ends it quietly with the next candle', async () => {
    const { sandbox, follow } = await setup()
    const run = await sandbox.shell(`set -o pipefail; klines ${follow.join(' ')} --last 10m | head -1`)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout.split('\n')).toHaveLength(2)
  })

  it('a kill loses nothing: the next run goes on behind the last whole line', async () => {
    const { sandbox, follow, due } = await setup()
    const { child, ended } = sandbox.start([...follow, '--last', '10h'])
    await new Promise(resolve => child.stdout?.once('data', resolve))
    child.kill('SIGKILL')
    const { stdout } = await ended
    // What may be torn goes.
    const kept = stdout.slice(0, stdout.lastIndexOf('\n') + 1)
    const last = JSON.parse(kept.trimEnd().split('\n').at(-1) ?? '').open_time
    const first = JSON.parse(kept.split('\n', 1)[0]).open_time
    const count = (due - last) / MINUTE
    const next = await sandbox.run([...follow, '--from', new Date(last + 1).toISOString(), '--candles', `${count}`])
    expect(next).toMatchObject({ code: 0 })
    expect(kept + next.stdout).toBe(await exported(sandbox, ['BTCUSDT', '-i', '1m'], first))
  })

  it('-o grows a CSV file: run again, a torn line goes, and the others are compared and stay', async () => {
    const { sandbox, follow, due } = await setup()
    const from = ['--from', new Date(due - 100 * MINUTE).toISOString()]
    const grow = [...follow, ...from, '-o', 'new/x.csv', '--candles']
    expect(await sandbox.run([...grow, '90'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const whole = await exported(sandbox, ['BTCUSDT', '-i', '1m'], due - 100 * MINUTE, 'csv')
    expect(sandbox.text('new/x.csv')).toBe(`${whole.split('\n').slice(0, 91).join('\n')}\n`)
    sandbox.write('new/x.csv', sandbox.text('new/x.csv').slice(0, -20))
    expect(await sandbox.run([...grow, '11'])).toMatchObject({ code: 0, stdout: '' })
    const now = await exported(sandbox, ['BTCUSDT', '-i', '1m'], due - 100 * MINUTE, 'csv')
    expect(sandbox.text('new/x.csv')).toBe(`${now.split('\n').slice(0, 101).join('\n')}\n`)
    // What is no file of this series stays as it is.
    const changed = sandbox
      .text('new/x.csv')
      .replace(/1(,0\n)$/, '2$1')
      .replace(/[02-9](,0\n)$/, '1$1')
    // Its last line is no torn one of ours.
    sandbox.write('new/x.csv', `${changed}1,2`)
    const refused = await sandbox.run([...grow, '1'])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^klines: new\/x\.csv does not go on with these candles: its last candles are not/)
    const other = await sandbox.run([...follow, '--columns', 'open_time,close', '-o', 'new/x.csv'])
    expect(other.stderr).toMatch(/its first line is not open_time,close\./)
    expect(sandbox.text('new/x.csv')).toBe(`${changed}1,2`)
  })

  it('without requests it prints what another process writes into the mirror', async () => {
    const { exchange, sandbox, source, due } = await setup()
    const download = ['download', 'BTCUSDT', '-i', '1m', '--last', '10m', ...source]
    await sandbox.run(download)
    const before = exchange.log.length
    const { child, ended } = sandbox.start([
      'follow',
      'BTCUSDT',
      '-i',
      '1m',
      '--offline',
      '--mirror',
      'm',
      '--candles',
      '1',
    ])
    await until(() => exchange.time > due + MINUTE + 16_000)
    expect(exchange.log).toHaveLength(before)
    expect(child.exitCode).toBeNull()
    await sandbox.run(download)
    expect(JSON.parse((await ended).stdout).open_time).toBe(due)
  })

  it.each<[string, string[], number, RegExp]>([
    ['a length that no timer takes', ['--for', '30d'], 2, /^klines: --for 30d is too long\. Expected 24d at most/],
    ['JSON', ['--json'], 2, /"Leave --json out: -f jsonl/],
    ['a format that has an end', ['-f', 'parquet'], 2, /Expected one of csv, jsonl|csv.*jsonl/],
    ['a file that cannot grow', ['-o', 'x.csv.gz'], 2, /^klines: x\.csv\.gz cannot grow as csv\. Expected a name/],
    [
      'a file of two series',
      ['ETHUSDT', '-o', 'x.csv', '--base-url', 'sample'],
      2,
      /2 series are too many\. Expected 1 for/,
    ],
    ['no candle', ['--candles', '0'], 2, /candles/],
  ])('refuses %s', async (_name, args, code, message) => {
    const run = await newSandbox().call(['follow', 'BTCUSDT', '-i', '1d', ...args])
    expect(run.code).toBe(code)
    expect(run.stdout + run.stderr).toMatch(message)
  })

  it('a full disk ends it with exit code 3', async () => {
    const { sandbox, follow, due } = await setup()
    // The files before are those of the history.
    const full = { call: 'writeSync', at: 4, code: 'ENOSPC', path: 'm/.klines-tmp' }
    const run = await sandbox.runFailing([...follow, '--from', new Date(due - 3 * MINUTE).toISOString()], [full])
    expect(run.code).toBe(3)
    expect(run.stderr).toMatch(/^klines: Cannot write .* the disk is full \(ENOSPC\)\.\n {2}Make room, /)
    expect(run.stdout.trimEnd().split('\n')).toHaveLength(3)
  })

  it('a refused region ends it with exit code 5', async () => {
    const { exchange, sandbox, follow } = await setup()
    exchange.always(() => true, { status: 451 })
    const run = await sandbox.run([...follow, '--last', '10m'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(/region/)
  })
})
