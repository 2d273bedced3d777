import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { copySample, SAMPLE_TREE } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
/** A sandbox with a copy of the sample data as the mirror `m`. */
function sandboxWithMirror() {
  const sandbox = newSandbox()
  cpSync(SAMPLE_TREE, sandbox.path('m'), { recursive: true })
  return sandbox
}
/** The same with every window of its lists. */
function sandboxWithWholeMirror() {
  const sandbox = newSandbox()
  copySample(sandbox.path('m'), ['15m', '1h', '4h', '1d'])
  return sandbox
}
const MIRROR = ['--mirror', 'm']
const MISSING = ['2025-01-06', '2025-02-10', '2025-02-17']
const quarterPath = (startDate: string) => `m/api/klines/15m/BTCUSDT/${startDate}.json`
/** Deletes three weeks of 15m candles. */
function sandboxWithMissingWindows() {
  const sandbox = sandboxWithMirror()
  for (const startDate of MISSING) rmSync(sandbox.path(quarterPath(startDate)))
  return sandbox
}
const lines = (text: string) => text.trimEnd().split('\n')

/** Changes a row of a window file; returns its open time. */
function changeRow(file: string, index: number, change: (row: (string | number)[]) => void) {
  const rows = JSON.parse(readFileSync(file, 'utf8'))
  change(rows[index])
  writeFileSync(file, JSON.stringify(rows))
  return rows[index][0] as number
}

describe('klines verify', () => {
  describe('of a mirror that lacks three windows', () => {
    it('is incomplete, exit code 3, and names the windows', async () => {
      const sandbox = sandboxWithMissingWindows()
      const [text, json, csv] = await Promise.all([
        sandbox.call(['verify', 'BTCUSDT', '-i', 'all', ...MIRROR]),
        sandbox.call(['verify', 'all', '-i', 'all', ...MIRROR, '--json']),
        sandbox.call(['verify', 'BTCUSDT', '-i', '15m', ...MIRROR, '-f', 'csv']),
      ])
      expect(text).toMatchObject({ code: 3, stderr: '' })
      const output = lines(text.stdout)
      expect(output[0]).toBe('INCOMPLETE: 1 of 12 series: 3 windows are missing')
      expect(output).toContain(`BTCUSDT 15m: ${MISSING.join(', ')}`)
      expect(text.stdout).toContain('\nklines download downloads missing and corrupt windows.\n')
      expect(text.stdout).toMatch(/^symbol +interval +candles +missing windows\nBTCUSDT +15m +[\d,]+ +3\n\n/m)
      expect(json.code).toBe(3)
      const { verdict, totals, series, differences } = JSON.parse(json.stdout)
      expect([verdict, totals.missingWindows, totals.corruptWindows, differences]).toEqual(['incomplete', 3, 0, []])
      const missing = series.filter((one: { missingWindows: string[] }) => one.missingWindows.length > 0)
      expect(missing).toMatchObject([{ symbol: 'BTCUSDT', interval: '15m', missingWindows: MISSING }])
      expect(csv.code).toBe(3)
      const [head, row] = lines(csv.stdout).map(line => line.split(','))
      expect(row[head.indexOf('missing_windows')]).toBe('3')
    })

    it('is exit 6 with --fail-on-gaps', async () => {
      const range = ['--from', '2024-12-30', '--to', '2025-02-10']
      const verify = ['verify', 'BTCUSDT', '-i', '15m,1h', ...MIRROR, '--json', '--fail-on-gaps', ...range]
      const run = await sandboxWithMissingWindows().call(verify)
      expect([run.code, JSON.parse(run.stdout).verdict]).toEqual([6, 'incomplete'])
    })

    it('a corrupt window is a failure, also beside missing ones', async () => {
      const sandbox = sandboxWithMissingWindows()
      writeFileSync(sandbox.path(quarterPath('2025-01-20')), '[')
      const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '15m', ...MIRROR])
      expect(run.code).toBe(6)
      expect(lines(run.stdout)[0]).toBe('FAILED: 1 of 1 series: 1 window is corrupt, 3 are missing')
      expect(run.stdout).toMatch(/^BTCUSDT 15m 2025-01-20: .*JSON/m)
      for (const day of ['01-27', '02-03', '02-24', '03-03', '03-10']) rmSync(sandbox.path(quarterPath(`2025-${day}`)))
      const { stdout } = await sandbox.call(['verify', 'BTCUSDT', '-i', '15m', ...MIRROR])
      expect(stdout).toContain('\nBTCUSDT 15m: 2025-01-06, 2025-01-27 to 2025-03-10 (7)\n')
    })
  })

  it('blames the candle that is invalid, not the longer ones beside it, and prints what downloads it again', async () => {
    const sandbox = sandboxWithMirror()
    const time = changeRow(sandbox.path('m/api/klines/1h/BTCUSDT/2025-02-01.json'), 7, row => {
      row[2] = '0.00000001'
    })
    const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '1h,2h,4h,1d', ...MIRROR])
    expect(run.code).toBe(6)
    expect(lines(run.stdout)[0]).toBe('FAILED: 1 of 4 series: 1 candle differs, 1 is invalid')
    expect(run.stdout).toContain(`BTCUSDT 1h ${new Date(time).toISOString().slice(0, 16).replace('T', ' ')}: `)
    expect(run.stdout).toContain('klines download --refresh ')
  })

  it('finds the sample consistent, as text, JSON and CSV', async () => {
    const sandbox = sandboxWithMirror()
    const [text, json, csv] = await Promise.all([
      sandbox.call(['verify', 'all', '-i', 'all', ...MIRROR]),
      sandbox.call(['verify', 'all', '-i', 'all', ...MIRROR, '--json']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h,4h', ...MIRROR, '-f', 'csv']),
    ])
    for (const run of [text, json, csv]) expect(run).toMatchObject({ code: 0 })
    expect(lines(text.stdout)[0]).toMatch(/^OK: \d+ series, [\d,]+ candles, [\d,]+ comparisons, 1 outage$/)
    expect(text.stdout).toMatch(
      /^Outages of the exchange: 1\nstart \(UTC\) +length +series\n\S+ \S+ +3 h +\d+ series of /m,
    )
    expect(lines(text.stdout).length).toBeLessThan(9)
    const { comparisons, differences, series } = JSON.parse(json.stdout)
    expect([comparisons > 10_000, differences]).toEqual([true, []])
    const isHourly = (one: { symbol: string; interval: string }) => one.symbol === 'BTCUSDT' && one.interval === '1h'
    expect(series.find(isHourly)).toMatchObject({ candles: 2181, missing: 3, gaps: [{ missing: 3, outage: true }] })
    expect(lines(csv.stdout)[0]).toBe(
      'symbol,interval,windows,missing_windows,corrupt_windows,candles,first_UTC,last_UTC,gaps,missing_candles,early_close,no_trade,invalid,different,notes,unverified',
    )
    expect(lines(csv.stdout)[1]).toMatch(/^BTCUSDT,1h,4,0,0,2181,/)
  })

  it('--fail-on-gaps makes gaps a failure, and so does its variable', async () => {
    const sandbox = sandboxWithMirror()
    const [strict, lenient, on] = await Promise.all([
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '--fail-on-gaps']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '-v']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '--json'], { KLINES_FAIL_ON_GAPS: 'on' }),
    ])
    expect([strict.code, lenient.code, on.code]).toEqual([6, 0, 6])
    expect(lines(strict.stdout)[0]).toBe('FAILED: 1 of 1 series: 1 gap')
    expect(lines(lenient.stdout)[0]).toBe('OK: 1 series, 2,181 candles, 4,362 comparisons, 1 gap')
    expect(lenient.stdout).toMatch(/^BTCUSDT 1h 2025-02-11 02:00: 3 candles missing until 2025-02-11 05:00$/m)
    expect(JSON.parse(on.stdout).totals).toMatchObject({ windows: 4, candles: 2181, gaps: 1, missingCandles: 3 })
  })

  it('names a flipped digit with both values and ends with 6', async () => {
    const sandbox = sandboxWithMirror()
    for (const interval of ['15m', '30m', '2h']) rmSync(sandbox.path(`m/api/klines/${interval}`), { recursive: true })
    const file = sandbox.path('m/api/klines/4h/BTCUSDT/2025-01-01.json')
    const before = JSON.parse(readFileSync(file, 'utf8'))[10][5]
    const after = before.replace(/\d$/, (digit: string) => String((Number(digit) + 1) % 10))
    const openTime = changeRow(file, 10, row => {
      row[5] = after
    })
    const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '4h', ...MIRROR])
    expect(run.code).toBe(6)
    const time = new Date(openTime).toISOString().slice(0, 16).replace('T', ' ')
    expect(lines(run.stdout)[0]).toBe('FAILED: 1 of 1 series: 1 candle differs')
    expect(run.stdout.replaceAll(/\n +/g, ' ')).toContain(
      `\nBTCUSDT 4h ${time} volume: ${after}, expected ${before} (1h)\n`,
    )
    expect(run.stdout).toContain('\nklines download --refresh ')
  })

  it('names the first 20 faults of a series, and with -v all of them', async () => {
    const sandbox = sandboxWithMirror()
    for (const interval of ['15m', '30m', '1h', '2h'])
      rmSync(sandbox.path(`m/api/klines/${interval}`), { recursive: true })
    const file = sandbox.path('m/api/klines/4h/BTCUSDT/2025-01-01.json')
    for (let index = 0; index < 25; index++)
      changeRow(file, index, row => {
        row[1] = '0.00000001'
      })
    const verify = async (...more: string[]) => {
      const { code, stdout } = await sandbox.call(['verify', 'BTCUSDT', '-i', '4h', ...MIRROR, ...more])
      expect([code, lines(stdout)[0]]).toEqual([6, 'FAILED: 1 of 1 series: 25 candles are invalid'])
      return lines(stdout).filter(line => / 0\.00000001|more/.test(line))
    }
    const all = await verify('-v')
    expect(all).toHaveLength(25)
    expect(await verify()).toEqual([...all.slice(0, 20), 'and 5 more (-v lists them)'])
  })

  it.each([
    [['verify', 'SOLUSDT', '-i', '1h'], 3, 'SOLUSDT 1h'],
    [['stats', 'SOLUSDT', '-i', '1h'], 3, 'SOLUSDT 1h'],
  ])('%j is an error that shows the value', async (args, code, value) => {
    const run = await sandboxWithMirror().call([...args, ...MIRROR])
    expect(run).toMatchObject({ code, stdout: '' })
    expect(run.stderr).toContain(value)
  })
})

describe('klines stats', () => {
  it('prints exact figures as JSON and CSV', async () => {
    const sandbox = sandboxWithMirror()
    const rows = JSON.parse(sandbox.text('m/api/klines/1d/BTCUSDT/2024-01-01.json'))
    const units = (text: string) => BigInt(text.replace('.', ''))
    const total = rows.reduce((sum: bigint, row: string[]) => sum + units(row[5]), 0n)
    const volume = String(total).replace(/(\d{8})$/, '.$1')
    const [text, json, csv] = await Promise.all([
      sandbox.call(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR]),
      sandbox.call(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR, '--json']),
      sandbox.call(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR, '-f', 'csv']),
    ])
    const [first, last] = [rows[0], rows[rows.length - 1]]
    const ends = { firstOpenTime: first[0], lastOpenTime: last[0], firstPrice: first[1], lastPrice: last[4] }
    expect(JSON.parse(json.stdout).series).toMatchObject([{ ...ends, candles: rows.length, volume }])
    expect(lines(csv.stdout)).toHaveLength(2)
    expect(csv.stdout).toContain(volume)
    // For people: separators in counts, and no zeros at the end of decimals.
    expect(text.stdout).toContain(` ${volume.replace(/0+$/, '')} `)
  })
})

describe('--resample', () => {
  const rows = async (sandbox: ReturnType<typeof newSandbox>, args: string[]) =>
    sandbox.call(['export', 'BTCUSDT', ...args, ...MIRROR, '-f', 'csv', '-o', '-'])

  it('of hours writes the same bytes as the days, and names files by the new interval', async () => {
    const sandbox = sandboxWithWholeMirror()
    const [resampled, daily] = await Promise.all([
      rows(sandbox, ['-i', '1h', '--resample', '1d']),
      rows(sandbox, ['-i', '1d']),
    ])
    expect([resampled.code, resampled.stdout]).toEqual([0, daily.stdout])
    const three = ['-i', '15m', '--resample', '3h', ...MIRROR, '-o', '{symbol}-{interval}.jsonl']
    const run = await sandbox.call(['export', 'BTCUSDT', 'ETHUSDT', ...three])
    expect(run.code).toBe(0)
    expect(sandbox.files().filter(name => !name.startsWith('m/'))).toEqual(['BTCUSDT-3h.jsonl', 'ETHUSDT-3h.jsonl'])
  })
})
