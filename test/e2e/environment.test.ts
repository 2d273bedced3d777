import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { csvOf, HEADER, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const DAILY = csvOf(sampleRows('BTCUSDT', '1d'))

describe.concurrent('environment variables', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = newSandbox()
    const env = { KLINES_BASE_URL: 'sample', KLINES_MIRROR: 'mirror', KLINES_INTERVAL: '12h,1d', KLINES_QUIET: '1' }
    const run = await sandbox.call(['download', 'BTCUSDT'], env)
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('KLINES_BASE_URL, KLINES_MIRROR and KLINES_INTERVAL say where from, where to and what', () => {
    const folders = sandbox.files('mirror/api/klines').map(name => name.split('/')[0])
    expect([...new Set(folders)].sort()).toEqual(['12h', '1d', 'start-dates'])
  })

  it.each<[Record<string, string>, string]>([
    [{ KLINES_FORMAT: 'csv' }, DAILY],
    [{ KLINES_FORMAT: 'csv', KLINES_OUTPUT: '-' }, DAILY],
    [
      { KLINES_FORMAT: 'csv', KLINES_COLUMNS: 'count,ignore', KLINES_FROM: '2025-03-30' },
      csvOf(
        sampleRows('BTCUSDT', '1d')
          .slice(-1)
          .map(row => [row[8], row[11]]),
        'count,ignore',
      ),
    ],
    [
      { KLINES_FORMAT: 'csv', KLINES_TO: '2025-01-01', KLINES_LAST: '1d', KLINES_TIME_FORMAT: 'iso' },
      csvOf(
        sampleRows('BTCUSDT', '1d')
          .slice(1, 2)
          .map(row => row.map((cell, index) => (index % 6 === 0 ? new Date(cell).toISOString() : cell))),
      ),
    ],
  ])('%j has the effect of its flags', async (env, expected) => {
    const run = await sandbox.call(['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror'], env)
    expect(run).toMatchObject({ code: 0, stdout: expected, stderr: '' })
  })

  it.each<[string, Record<string, string>]>([
    ['--mirror', { KLINES_MIRROR: 'none' }],
    ['-i', { KLINES_INTERVAL: '12h' }],
    ['-f', { KLINES_FORMAT: 'parquet' }],
    ['-o', { KLINES_OUTPUT: 'from-environment.csv' }],
    ['--columns', { KLINES_COLUMNS: 'open' }],
    ['--from', { KLINES_FROM: '2026' }],
  ])('%s wins over %j', async (_, env) => {
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror', '-f', 'csv', '-o', '-', '--from', '2024-12-30']
    const run = await sandbox.call([...args, '--columns', HEADER], env)
    expect(run).toMatchObject({ code: 0, stdout: DAILY, stderr: '' })
    expect(sandbox.exists('from-environment.csv')).toBe(false)
  })

  it.each([
    ['true', 0],
    ['1', 0],
    ['YES', 0],
    ['y', 0],
    ['On', 0],
    ['false', 2],
    ['0', 2],
    ['No', 2],
    ['n', 2],
    ['OFF', 2],
    ['', 2],
  ])('KLINES_FORCE=%s on a file that exists gives exit code %d', async (KLINES_FORCE, code) => {
    const name = sandbox.write(`old-${KLINES_FORCE}.csv`, 'old')
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror', '-o', name]
    expect(await sandbox.call(args, { KLINES_FORCE })).toMatchObject({ code })
    expect(sandbox.text(`old-${KLINES_FORCE}.csv`) === 'old').toBe(code === 2)
  })

  it.each([
    ['KLINES_FORCE', 'maybe', ['export', 'BTCUSDT', '-i', '1d', '-o', 'switch.csv']],
    ['KLINES_QUIET', 'maybe', ['export', 'BTCUSDT', '-i', '1d', '-o', 'switch.csv']],
    ['KLINES_JSON', '2', ['export', 'BTCUSDT', '-i', '1d', '-o', 'switch.csv']],
    ['KLINES_DEBUG', 'all', ['export', 'BTCUSDT', '-i', '1d', '-o', 'switch.csv']],
    ['KLINES_FAIL_ON_GAPS', 'yes!', ['verify', 'BTCUSDT', '-i', '1d']],
  ])('%s=%s is an error, and not "off"', async (variable, value, args) => {
    const run = await sandbox.call([...args, '--mirror', 'mirror'], { [variable]: value })
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(
      `klines: ${variable} is "${value}". Expected one of 1, true, yes, y, on, or of 0, false,`,
    )
    expect(sandbox.exists('switch.csv')).toBe(false)
  })

  it('an unknown value has no effect where the command line says it, or where the command has no such flag', async () => {
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror', '-f', 'csv']
    expect(await sandbox.call([...args, '--no-quiet'], { KLINES_QUIET: 'maybe' })).toMatchObject({
      code: 0,
      stdout: DAILY,
    })
    expect(await sandbox.call(args, { KLINES_REPAIR: 'maybe' })).toMatchObject({ code: 0, stdout: DAILY })
  })

  it('KLINES_JSON makes an object of the summary, and of an error', async () => {
    const args = ['export', 'BTCUSDT', '--mirror', 'mirror', '-o', 'env.csv']
    const done = await sandbox.call([...args, '-i', '1d'], { KLINES_JSON: 'true' })
    expect(JSON.parse(done.stdout)).toMatchObject({ candles: 91, files: [{ path: 'env.csv' }] })
    const failed = await sandbox.call([...args, '-i', '1s'], { KLINES_JSON: 'true' })
    expect(failed).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: 'unknown_interval' } })
  })

  it.each([
    ['KLINES_DEBUG=1', { KLINES_DEBUG: '1' }, true],
    ['KLINES_DEBUG=0', { KLINES_DEBUG: '0' }, false],
    ['KLINES_VERBOSE=1', { KLINES_VERBOSE: '1' }, false],
  ])('%s and the stack of an error', async (_, env, hasStack) => {
    const run = await sandbox.call(['export', 'BTCUSDT', '-i', '1s', '-v'], env)
    expect(run.stderr).toContain('Unknown interval "1s"')
    expect(/^\s+at /m.test(run.stderr)).toBe(hasStack)
  })

  it('KLINES_DRY_RUN writes nothing', async () => {
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror', '-o', 'dry.csv']
    expect(await sandbox.call(args, { KLINES_DRY_RUN: '1' })).toMatchObject({ code: 0 })
    expect(sandbox.exists('dry.csv')).toBe(false)
  })

  it('an invalid value of a variable is a usage error that shows the value', async () => {
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror']
    for (const [env, value] of [
      [{ KLINES_FORMAT: 'xml' }, 'KLINES_FORMAT sets format to xml.'],
      [{ KLINES_FROM: 'tomorrow' }, 'KLINES_FROM sets from to tomorrow.'],
      [{ KLINES_COLUMNS: 'open_time,foo' }, 'KLINES_COLUMNS sets columns to open_time,foo.'],
      [{ KLINES_THREADS: 'abc' }, 'KLINES_THREADS sets threads to abc.'],
      [{ KLINES_THREADS: '0' }, 'KLINES_THREADS sets threads to 0.'],
    ] as const) {
      const run = await sandbox.call(args, env)
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toContain(value)
    }
  })

  it.each([
    [['--threads', 'xyz'], { KLINES_THREADS: '2' }],
    [['--threads=0'], { KLINES_THREADS: '2' }],
    [['-f', 'xml'], { KLINES_FORMAT: 'csv' }],
  ])('a variable that %j replaces is not blamed', async (args, env) => {
    const run = await sandbox.call(['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror', ...args], env)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).not.toContain('KLINES_')
  })
})
