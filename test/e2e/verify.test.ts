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
  copySample(sandbox.path('m'))
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

    it('has no gap there, also with --fail-on-gaps', async () => {
      const sandbox = sandboxWithMirror()
      const args = ['verify', 'BTCUSDT', '-i', '15m', ...MIRROR, '--json', '--fail-on-gaps']
      const before = JSON.parse((await sandbox.call(args)).stdout)
      expect(before.totals).toMatchObject({ missingWindows: 0, gaps: 1 })
      // The gap of the sample lies in one of these windows.
      const [{ startTime }] = before.series[0].gaps
      const week =
        Date.parse('2024-12-30') +
        7 * 86_400_000 * Math.floor((startTime - Date.parse('2024-12-30')) / (7 * 86_400_000))
      rmSync(sandbox.path(quarterPath(new Date(week).toISOString().slice(0, 10))))
      const after = await sandbox.call(args)
      expect(after.code).toBe(6)
      expect(JSON.parse(after.stdout).totals).toMatchObject({ missingWindows: 1, gaps: 0, missingCandles: 0 })
    })

    it('and has a changed digit, is failed, exit code 6, and names both', async () => {
      const sandbox = sandboxWithMissingWindows()
      const openTime = changeRow(sandbox.path('m/api/klines/1h/BTCUSDT/2025-01-01.json'), 300, row => {
        row[8] = Number(row[8]) + 1
      })
      const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '15m,1h,4h', ...MIRROR])
      expect(run).toMatchObject({ code: 6, stderr: '' })
      // The hour differs from its quarters and halves, and four hours from their hours.
      expect(lines(run.stdout)[0]).toBe('FAILED: 3 of 3 series: 2 candles differ, 3 windows are missing')
      expect(run.stdout).toContain(`BTCUSDT 15m: ${MISSING.join(', ')}`)
      const time = new Date(openTime).toISOString().slice(0, 16).replace('T', ' ')
      expect(run.stdout).toMatch(new RegExp(`^BTCUSDT 1h ${time} count: \\d+,\\s+expected \\d+ \\(15m, 30m\\)$`, 'm'))
      expect(run.stdout).toMatch(/^BTCUSDT 4h \S+ \S+ count: \d+,\s+expected \d+ \(1h\)$/m)
    })

    it('is fine in a range without them; a range that needs others names those', async () => {
      const sandbox = sandboxWithMissingWindows()
      const verify = (...range: string[]) =>
        sandbox.call(['verify', 'BTCUSDT', '-i', '15m,1h', ...MIRROR, '--json', ...range])
      const [within, before, last, none] = await Promise.all([
        verify('--from', '2025-01-13', '--to', '2025-02-10'),
        verify('--from', '2024-11', '--to', '2025-01-06'),
        verify('--to', '2025-02-20', '--last', '8d'),
        verify('--from', '2025-01-14', '--to', '2025-01-13'),
      ])
      expect([within.code, before.code, last.code, none.code]).toEqual([0, 3, 3, 2])
      const missing = (run: { stdout: string }) =>
        JSON.parse(run.stdout).series.map((one: { missingWindows: string[] }) => one.missingWindows)
      expect(missing(within)).toEqual([[], []])
      expect(missing(before)).toEqual([[], ['2024-11-01']])
      expect(missing(last)).toEqual([['2025-02-10', '2025-02-17'], []])
      const { range, series } = JSON.parse(within.stdout)
      expect(range).toEqual({ from: Date.parse('2025-01-13'), to: Date.parse('2025-02-10') })
      expect([series[0].firstOpenTime, series[0].lastOpenTime]).toEqual([range.from, range.to - 900_000])
    })

    it('shows many missing windows as their first and last one, and all of them with -v', async () => {
      const sandbox = sandboxWithMirror()
      sandbox.now = Date.parse('2026-02-01')
      const args = ['verify', 'BTCUSDT', '-i', '15m', ...MIRROR, '--from', '2025', '--to', '2026']
      const [brief, verbose, last] = await Promise.all([
        sandbox.call(args),
        sandbox.call([...args, '-v']),
        sandbox.call(['verify', 'BTCUSDT', '-i', '15m', ...MIRROR, '--last', '2w'], { KLINES_FROM: '2025' }),
      ])
      expect([brief.code, verbose.code, last.code]).toEqual([3, 3, 4])
      expect(lines(brief.stdout)[0]).toBe('INCOMPLETE: 1 of 1 series: 40 windows are missing')
      expect(lines(brief.stdout)).toContain('BTCUSDT 15m: 2025-03-31 to 2025-12-29 (40)')
      expect(verbose.stdout.match(/^BTCUSDT 15m: (2025-\d\d-\d\d,?\s+){40}$/m)).not.toBeNull()
      // An end that moves is that of the mirror.
      expect(last.stdout).toContain('Requested 2026-01-18 00:00 to 2026-02-01 00:00 UTC; no candle: 1,343 short.')
    })

    it('of a range without candles proves nothing: exit code 4', async () => {
      const sandbox = sandboxWithMirror()
      writeFileSync(sandbox.path('m/api/klines/1h/BTCUSDT/2024-11-01.json'), '[]')
      const run = await sandbox.call([
        'verify',
        'BTCUSDT',
        '-i',
        '1h',
        ...MIRROR,
        '--from',
        '2024-11',
        '--to',
        '2024-12',
      ])
      expect(run).toMatchObject({ code: 4, stderr: '' })
      expect(lines(run.stdout)[0]).toBe('NO CANDLES: 1 series, all of them empty')
    })

    it('is fine after the windows were downloaded', async () => {
      const sandbox = sandboxWithMissingWindows()
      const args = ['BTCUSDT', '-i', 'all', '--mirror', 'm']
      expect((await sandbox.call(['verify', ...args])).code).toBe(3)
      await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--mirror', 'm', '--base-url', 'sample'])
      expect((await sandbox.call(['verify', ...args])).code).toBe(0)
    })

    it('a corrupt window is a failure, also beside missing ones', async () => {
      const sandbox = sandboxWithMissingWindows()
      writeFileSync(sandbox.path(quarterPath('2025-01-20')), '[')
      const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '15m', ...MIRROR])
      expect(run.code).toBe(6)
      expect(lines(run.stdout)[0]).toBe('FAILED: 1 of 1 series: 1 window is corrupt, 3 are missing')
      expect(run.stdout).toMatch(/^BTCUSDT 15m 2025-01-20: .*JSON/m)
    })
  })

  it('-q keeps the result, and every line fits 80 columns', async () => {
    const sandbox = sandboxWithMissingWindows()
    const [plain, quiet] = await Promise.all(
      [[], ['-q']].map(flags => sandbox.call(['verify', 'all', '-i', 'all', ...MIRROR, ...flags])),
    )
    expect(quiet.stdout).toBe(plain.stdout)
    for (const flags of [[], ['-v']]) {
      const run = await sandbox.call(['verify', 'all', '-i', 'all', ...MIRROR, ...flags])
      // A command is for copying, so it is not broken.
      const text = lines(run.stdout).filter(line => !line.startsWith('    klines download '))
      expect(text.filter(line => line.length > 80)).toEqual([])
    }
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
    expect(run.stdout).toContain(
      '\n    klines download BTCUSDT -i 1h --from 2025-02-01 --to 2025-03-01 --refresh --base-url sample --mirror m\n',
    )
  })

  it('names every failing candle, thousands of them too', async () => {
    const sandbox = sandboxWithMirror()
    const file = sandbox.path('m/api/klines/1h/BTCUSDT/2025-01-01.json')
    const rows = JSON.parse(readFileSync(file, 'utf8'))
    for (const row of rows) row[8]++
    writeFileSync(file, JSON.stringify(rows))
    const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '15m,1h', ...MIRROR])
    expect(run.code).toBe(6)
    expect(lines(run.stdout)[0]).toBe(`FAILED: 1 of 2 series: ${rows.length} candles differ`)
    for (const [openTime] of rows) {
      const time = new Date(openTime).toISOString().slice(0, 16).replace('T', ' ')
      expect(run.stdout).toContain(`\nBTCUSDT 1h ${time} count: `)
    }
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
    expect(
      series.find((one: { symbol: string; interval: string }) => one.symbol === 'BTCUSDT' && one.interval === '1h'),
    ).toMatchObject({
      candles: 2181,
      missing: 3,
      gaps: [{ missing: 3, outage: true }],
    })
    expect(lines(csv.stdout)[0]).toBe(
      'symbol,interval,windows,missing_windows,corrupt_windows,candles,first_UTC,last_UTC,gaps,missing_candles,early_close,no_trade,invalid,different,notes,unverified',
    )
    expect(lines(csv.stdout)[1]).toMatch(/^BTCUSDT,1h,4,0,0,2181,/)
  })

  it('--fail-on-gaps makes gaps a failure, and so does its variable', async () => {
    const sandbox = sandboxWithMirror()
    const [strict, lenient, on] = await Promise.all([
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '--fail-on-gaps']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR]),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR], { KLINES_FAIL_ON_GAPS: 'on' }),
    ])
    expect([strict.code, lenient.code, on.code]).toEqual([6, 0, 6])
    expect(lines(strict.stdout)[0]).toBe('FAILED: 1 of 1 series: 1 gap')
    expect(lines(lenient.stdout)[0]).toBe('OK: 1 series, 2,181 candles, 4,362 comparisons, 1 gap')
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
    const [run, json] = await Promise.all([
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h,4h', ...MIRROR]),
      // The hours are compared with also when they are not named.
      sandbox.call(['verify', 'BTCUSDT', '-i', '4h', ...MIRROR, '--json']),
    ])
    expect([run.code, json.code]).toEqual([6, 6])
    const time = new Date(openTime).toISOString().slice(0, 16).replace('T', ' ')
    expect(lines(run.stdout)[0]).toBe('FAILED: 1 of 2 series: 1 candle differs')
    expect(run.stdout.replaceAll(/\n +/g, ' ')).toContain(
      `\nBTCUSDT 4h ${time} volume: ${after}, expected ${before} (1h)\n`,
    )
    expect(JSON.parse(json.stdout).differences).toEqual([
      {
        symbol: 'BTCUSDT',
        interval: '4h',
        finer: '1h',
        openTime,
        column: 'volume',
        value: after,
        expected: before,
      },
    ])
  })

  it('-v lists every finding with its time', async () => {
    const run = await sandboxWithMirror().call(['verify', 'BTCUSDT', 'ETHUSDT', '-i', '1h', ...MIRROR, '-v'])
    expect(run.code).toBe(0)
    expect(run.stdout).toMatch(/^BTCUSDT 1h \S+ \S+ to \S+ \S+: 3 candles missing, an outage$/m)
    expect(run.stdout).toMatch(/^BTCUSDT 1h +2,181 +2024-12-\d\d +2025-03-\d\d +1 /m)
  })

  it('shows stretches of candles without a trade, and how many there are', async () => {
    const sandbox = sandboxWithMirror()
    for (const interval of ['15m', '30m']) rmSync(sandbox.path(`m/api/klines/${interval}`), { recursive: true })
    const file = sandbox.path('m/api/klines/1h/BTCUSDT/2025-01-01.json')
    const without = (row: (string | number)[]) => {
      for (const column of [1, 2, 3]) row[column] = row[4]
      for (const column of [5, 7, 9, 10]) row[column] = '0.00000000'
      row[8] = 0
    }
    const [first] = [100, 101, 102, 200].map(index => changeRow(file, index, without))
    const [text, json, csv] = await Promise.all([
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '-v']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '--json']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '-f', 'csv']),
    ])
    expect([text.code, json.code, csv.code]).toEqual([0, 0, 0])
    const [series] = JSON.parse(json.stdout).series
    expect(series.counts).toEqual({ earlyClose: series.earlyClose.length, zeroTrades: 4, offGrid: 0, invalid: 0 })
    const [HOUR, last] = [3_600_000, first + 100 * 3_600_000]
    expect(series.zeroTrades).toEqual([
      { startTime: first, endTime: first + 3 * HOUR, candles: 3 },
      { startTime: last, endTime: last + HOUR, candles: 1 },
    ])
    expect(text.stdout).toMatch(/^BTCUSDT 1h 2025-01-05 04:00 to 2025-01-05 07:00: 3 candles without a trade$/m)
    expect(text.stdout).toMatch(/^BTCUSDT 1h 2025-01-09 08:00: has no trade$/m)
    const [head, row] = lines(csv.stdout).map(line => line.split(','))
    expect(row[head.indexOf('no_trade')]).toBe('4')
  })

  it('names a corrupt window and ends with 6', async () => {
    const sandbox = sandboxWithMirror()
    const file = sandbox.path('m/api/klines/1h/BTCUSDT/2025-02-01.json')
    writeFileSync(file, readFileSync(file).subarray(0, 500))
    const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR])
    expect(run.code).toBe(6)
    expect(lines(run.stdout)[0]).toBe('FAILED: 1 of 1 series: 1 window is corrupt')
    expect(run.stdout).toMatch(/^BTCUSDT 1h 2025-02-01: /m)
  })

  it.each([
    [['verify', 'SOLUSDT', '-i', '1h'], 3, 'SOLUSDT 1h'],
    [['verify', 'BTCUSD', '-i', '1h'], 2, 'BTCUSD'],
    [['verify', 'BTCUSDT', '-i', '1m'], 2, '1m'],
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
    const volume = String(rows.reduce((sum: bigint, row: string[]) => sum + units(row[5]), 0n)).replace(
      /(\d{8})$/,
      '.$1',
    )
    const [text, json, csv] = await Promise.all([
      sandbox.call(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR]),
      sandbox.call(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR, '--json']),
      sandbox.call(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR, '-f', 'csv']),
    ])
    const [first, last] = [rows[0], rows[rows.length - 1]]
    expect(JSON.parse(json.stdout).series).toMatchObject([
      {
        candles: rows.length,
        firstOpenTime: first[0],
        lastOpenTime: last[0],
        firstPrice: first[1],
        lastPrice: last[4],
        volume,
      },
    ])
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
    const run = await sandbox.call([
      'export',
      'BTCUSDT',
      'ETHUSDT',
      '-i',
      '15m',
      '--resample',
      '3h',
      ...MIRROR,
      '-o',
      '{symbol}-{interval}.jsonl',
    ])
    expect(run.code).toBe(0)
    expect(sandbox.files().filter(name => !name.startsWith('m/'))).toEqual(['BTCUSDT-3h.jsonl', 'ETHUSDT-3h.jsonl'])
  })

  it('works on download and in every format', async () => {
    const sandbox = newSandbox()
    const location = ['--base-url', 'sample']
    for (const ending of ['csv', 'json', 'jsonl', 'parquet', 'arrow']) {
      const run = await sandbox.call([
        'download',
        'BTCUSDT',
        '-i',
        '4h',
        '--resample',
        '1w',
        ...location,
        '-o',
        `a.${ending}`,
      ])
      expect([ending, run.code]).toEqual([ending, 0])
    }
    const own = await sandbox.call(['download', 'BTCUSDT', '-i', '1w', ...location, '-f', 'csv', '-o', '-'])
    expect(own.stdout).toContain(sandbox.text('a.csv').trimEnd().split('\n').at(-1))
  })

  it('keeps unfinished candles only with --partial', async () => {
    const sandbox = sandboxWithWholeMirror()
    const range = ['-i', '1h', '--resample', '1d', '--from', '2025-02-01', '--to', '2025-02-03T12:00Z']
    const whole = await rows(sandbox, range)
    // The candle of 3 February opens before --to, so it is whole.
    expect(lines(whole.stdout)).toHaveLength(4)
    const [without, partial] = await Promise.all([
      rows(sandbox, ['-i', '1d', '--resample', '1M']),
      rows(sandbox, ['-i', '1d', '--resample', '1M', '--partial']),
    ])
    expect(lines(partial.stdout).length).toBeGreaterThan(lines(without.stdout).length)
  })

  it.each([
    [['-i', '4h', '--resample', '6h'], '6h candles cannot be built from 4h candles'],
    [['-i', '1h', '--resample', '1x'], '1x'],
    [['-i', '1h,4h', '--resample', '1d'], '1h, 4h'],
  ])('%j is a usage error', async (args, words) => {
    const run = await rows(sandboxWithWholeMirror(), args)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(words)
  })
})
