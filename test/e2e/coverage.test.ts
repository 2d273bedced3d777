import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { copySample, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const MIRROR = ['--mirror', 'm']
const HOURLY = ['BTCUSDT', '-i', '1h', ...MIRROR]
/** The newest hour of the sample opens at 2025-03-30 23:00. March has all of its hours until then. */
const MARCH = ['--from', '2025-03-01']

/** Of a range that begins before the list. */
const BEFORE_LIST =
  'the 1h list of https://klines.example begins 2022-01-01; 2h candles may go back to 2017-07-01; --base-url binance may have older ones'

const sandboxWithSample = usePreparedSandboxes(newSandbox, async sandbox =>
  copySample(sandbox.path('m'), ['1h', '4h', '1d']),
)

/** A sandbox with a copy of the sample data as the mirror `m` of a static service, and a clock. */
async function sandboxAt(now: string, baseUrl = 'https://klines.example'): Promise<CliSandbox> {
  const sandbox = await sandboxWithSample()
  sandbox.write('m/mirror.json', JSON.stringify({ layout: 1, baseUrl }))
  sandbox.now = Date.parse(now)
  return sandbox
}

describe('less than was requested', () => {
  it('is said by verify, with the age of the source; a flag makes it exit code 6', async () => {
    const sandbox = await sandboxAt('2025-04-20T10:14:00Z')
    const range = ['--last', '40d']
    const text = await sandbox.call(['verify', ...HOURLY, ...range])
    expect(text.code).toBe(0)
    expect(text.stdout).toMatch(/^SHORT: 1 series, 469 candles, 490 fewer than requested/)
    expect(text.stdout).toContain(
      'You asked for 2025-03-11 10:14 to 2025-04-20 10:14 UTC; candles from 2025-03-11 11:00 to 2025-03-30 23:00: 490 short at the end. The newest candle of this source is 20 days old; --base-url binance may have newer ones.',
    )
    const failing = await sandbox.call(['verify', ...HOURLY, ...range, '--fail-on-gaps', '--json'])
    expect(failing.code).toBe(6)
    const { verdict, series } = JSON.parse(failing.stdout)
    expect(verdict).toBe('failed')
    const { requested, ...coverage } = series[0].coverage
    // The clock goes on.
    expect(requested.from - Date.parse('2025-03-11T10:14Z')).toBe(requested.to - Date.parse('2025-04-20T10:14Z'))
    expect(coverage).toEqual({
      interval: '1h',
      first: Date.parse('2025-03-11T11:00Z'),
      last: Date.parse('2025-03-30T23:00Z'),
      shortAtStart: 0,
      shortAtEnd: 490,
    })
  })

  it('writes nothing with the flag: no file, no byte on stdout, no lake', async () => {
    const sandbox = await sandboxAt('2025-04-20T00:00:00Z')
    const range = [...MARCH, '--to', '2025-03-31T02:00', '--fail-on-gaps']
    const runs = await Promise.all([
      sandbox.call(['export', ...HOURLY, ...range, '-o', 'x.csv']),
      sandbox.call(['export', ...HOURLY, ...range]),
      sandbox.call(['export', ...HOURLY, ...range, '--layout', 'hive', '-o', 'lake']),
      sandbox.call(['export', ...HOURLY, ...range, '--resample', '2h', '-o', 'two.csv']),
    ])
    for (const { code, stdout, stderr } of runs) {
      expect(code).toBe(3)
      expect(stdout).toBe('')
      expect(stderr).toContain(
        'klines: You asked for 2025-03-01 00:00 to 2025-03-31 02:00 UTC; 1 of 1 series lacks candles, so nothing was exported:',
      )
    }
    expect(runs.map(({ stderr }) => /(\d+) short at the end/.exec(stderr)?.[1])).toEqual(['2', '2', '2', '1'])
    for (const name of ['x.csv', 'lake', 'two.csv']) expect(existsSync(sandbox.path(name))).toBe(false)
  })

  it('is one line for symbols that lack the same, and a note of a lock', async () => {
    const sandbox = await sandboxAt('2025-04-20T10:14:00Z', 'sample')
    const range = ['all', '-i', '1h,4h', ...MIRROR, '--from', '2025-03-25', '--to', '2025-04-05']
    const { stdout } = await sandbox.call(['stats', ...range])
    expect(stdout).toMatch(
      /UTC; \d+ series have less:\n1h, \d+ symbols: 120 short at the end\n4h, \d+ symbols: 30 short at/,
    )
    const some = ['BTCUSDT', '-i', '1h', ...range.slice(3), '--base-url', 'sample']
    const download = await sandbox.call(['download', ...some])
    expect(download.stdout).toContain(
      'You asked for 2025-03-25 00:00 to 2025-04-05 00:00 UTC; candles from 2025-03-25 00:00 to 2025-03-30 23:00: 120 short at the end.\n',
    )
    expect(download.stdout).not.toContain('binance')
    const lock = await sandbox.call(['lock', ...HOURLY, '--from', '2025-02', '--to', '2025-04-05'])
    const asked = 'Note: You asked for 2025-02-01 00:00 to 2025-04-05 00:00 UTC; '
    const quiet = await sandbox.call(['lock', ...HOURLY, '--from', '2025-02', '--to', '2025-04-05', '-q', '--force'])
    expect(quiet.stderr).toContain(`${asked}BTCUSDT 1h: `)
    expect(lock.stderr).toContain('synthetic sample data')
    expect(lock.stderr).toContain(
      `${asked}BTCUSDT 1h: candles from 2025-02-01 00:00 to 2025-03-30 23:00: 120 short at the end.`,
    )
  })

  it('counts to the first date of the list, and an end that was not named is never short', async () => {
    const sandbox = await sandboxAt('2025-04-20T00:00:00Z')
    const coverageOf = async (...range: string[]) => {
      const { stdout } = await sandbox.call(['export', ...HOURLY, ...range, '--json', '--force', '-o', 'x.csv'])
      const { shortAtStart, shortAtEnd } = JSON.parse(stdout).series[0].coverage
      return [shortAtStart, shortAtEnd]
    }
    // As far as the list reaches, nothing is missing before the first candle.
    expect(await coverageOf('--from', '2022')).toEqual([0, 0])
    expect(await coverageOf()).toEqual([0, 0])
    expect(await coverageOf('--from', '2021-12-31')).toEqual([24, 0])
    const text = await sandbox.call(['export', ...HOURLY, '--from', '2021', '--force', '-o', 'x.csv', '--fail-on-gaps'])
    expect(text.code).toBe(3)
    expect(text.stderr).toContain(`: 8,760 short at the start (${BEFORE_LIST}); 3 candles missing in 1 gap\n`)
    // Of a series that has earlier candles, the first ones of the range are missing.
    const path = 'm/api/klines/1h/BTCUSDT/2025-03-01.json'
    const rows = sampleRows('BTCUSDT', '1h').filter(([time]) => Number(time) >= Date.parse('2025-03-01T05:00Z'))
    sandbox.write(path, JSON.stringify(rows))
    expect(await coverageOf('--from', '2025-03')).toEqual([5, 0])
  })

  it('is said of candles before the list by every command, also with -q, on stdout and in the objects', async () => {
    const sandbox = await sandboxAt('2025-04-20T00:00:00Z')
    const range = ['--from', '2021-12-25', '--to', '2025-03']
    const short = `168 short at the start (${BEFORE_LIST})`
    const commands = [
      ['export', ...HOURLY, '-o', 'x.csv'],
      ['export', ...HOURLY, '-q', '-o', 'y.csv'],
      ['export', ...HOURLY, '-q', '-f', 'csv', '-o', '-'],
      ['export', ...HOURLY, '-f', 'csv', '-o', '-'],
      ['export', ...HOURLY, '-o', 'z.csv', '--resample', '3h'],
      ['stats', ...HOURLY],
      ['stats', ...HOURLY, '-f', 'csv'],
      ['verify', ...HOURLY],
      ['fingerprint', ...HOURLY, '-q'],
      ['chart', ...HOURLY, '--offline'],
      ['chart', ...HOURLY, '--offline', '-q', '-o', 'x.svg'],
      ['chart', ...HOURLY, '--offline', '-o', 'w.svg'],
      ['chart', ...HOURLY, '--offline', '-q', '-f', 'svg'],
      ['diff', 'm', 'm', 'BTCUSDT', '-i', '1h'],
    ]
    for (const command of commands) {
      const { code, stdout, stderr } = await sandbox.call([...command, ...range])
      expect([command, code]).toEqual([command, 0])
      expect(stdout + stderr, command.join(' ')).toContain(
        command.includes('3h') ? `56 short at the start (${BEFORE_LIST})` : short,
      )
    }
    expect(sandbox.text('x.svg')).toMatch(/ candles, 168 short at the start[ .]/)
    for (const command of commands.filter(one => !one.includes('csv') && !one.includes('svg'))) {
      const run = await sandbox.call([...command, ...range, '--json', ...(command.includes('-o') ? ['--force'] : [])])
      const { warnings, series } = JSON.parse(run.stdout)
      expect(warnings.join(), command.join(' ')).toContain('short at the start')
      const start = command.includes('3h') ? 56 : 168
      expect(JSON.stringify(series[0].coverage)).toContain(`"shortAtStart":${start},"shortAtEnd":0`)
    }
    const failing = await sandbox.call(['verify', ...HOURLY, ...range, '--fail-on-gaps'])
    expect(failing.code).toBe(6)
  })

  it('a file is compared for a range, and what both lack is said', async () => {
    const sandbox = await sandboxAt('2025-04-20T00:00:00Z')
    const export3 = ['export', ...HOURLY, '--from', '2025-03-10', '--resample', '3h', '-o', 'BTCUSDT-3h.csv']
    expect(await sandbox.call(export3)).toMatchObject({ code: 0 })
    const diff = ['diff', 'BTCUSDT-3h.csv', 'BTCUSDT-3h.csv', '--from', '2025-03', '--to', '2025-04-02']
    const { code, stdout } = await sandbox.call(diff)
    const asked = 'You asked for 2025-03-01 00:00 to 2025-04-02 00:00 UTC'
    const there = 'candles from 2025-03-10 00:00 to 2025-03-30 21:00'
    const lines = ['A', 'B'].map(side => `${side}: ${asked}; ${there}: 72 short at the start, 16 short at the end.`)
    expect([code, stdout.match(/^[AB]: You.*$/gm)]).toEqual([0, lines])
  })

  it('in a range without a candle the age of the newest one is said', async () => {
    const sandbox = await sandboxAt('2025-04-20T10:14:00Z')
    const run = await sandbox.call(['export', ...HOURLY, '--last', '10d'])
    expect([run.code, run.stdout]).toEqual([4, ''])
    const range = '--from 2025-03-20 --to 2025-03-31'
    expect(run.stderr).toContain(
      `\n  The newest candle here is of 2025-03-30 23:00 UTC, 20 days old: ${range} has some; --base-url binance may have newer ones.\n`,
    )
    const there = await sandbox.call(['export', ...HOURLY, ...range.split(' '), '-o', 'x.csv'])
    expect(there.code).toBe(0)
  })
})
