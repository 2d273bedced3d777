import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
/** A sandbox with a copy of the sample data as the mirror `m`. */
function sandboxWithMirror() {
  const sandbox = newSandbox()
  cpSync(SAMPLE_TREE, sandbox.path('m'), { recursive: true })
  return sandbox
}
const MIRROR = ['--mirror', 'm']
const lines = (text: string) => text.trimEnd().split('\n')

/** Changes a row of a window file; returns its open time. */
function changeRow(file: string, index: number, change: (row: (string | number)[]) => void) {
  const rows = JSON.parse(readFileSync(file, 'utf8'))
  change(rows[index])
  writeFileSync(file, JSON.stringify(rows))
  return rows[index][0] as number
}

describe('klines verify', () => {
  it('finds the sample consistent, as text, JSON and CSV', async () => {
    const sandbox = sandboxWithMirror()
    const [text, json, csv] = await Promise.all([
      sandbox.run(['verify', 'all', '-i', 'all', ...MIRROR]),
      sandbox.call(['verify', 'all', '-i', 'all', ...MIRROR, '--json']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h,4h', ...MIRROR, '-f', 'csv']),
    ])
    for (const run of [text, json, csv]) expect(run).toMatchObject({ code: 0 })
    expect(text.stdout).toContain('no difference')
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
      'symbol,interval,candles,first_UTC,last_UTC,gaps,missing,early_close,no_trade,faults,differences,not_covered',
    )
    expect(lines(csv.stdout)[1]).toMatch(/^BTCUSDT,1h,2181,/)
  })

  it('--fail-on-gaps makes gaps a failure', async () => {
    const sandbox = sandboxWithMirror()
    const [strict, lenient] = await Promise.all([
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '--fail-on-gaps']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR]),
    ])
    expect([strict.code, lenient.code]).toEqual([6, 0])
  })

  it('names a flipped digit with both values and ends with 6; --no-audit does not find it', async () => {
    const sandbox = sandboxWithMirror()
    const file = sandbox.path('m/api/klines/4h/BTCUSDT/2025-01-01.json')
    const before = JSON.parse(readFileSync(file, 'utf8'))[10][5]
    const after = before.replace(/\d$/, (digit: string) => String((Number(digit) + 1) % 10))
    const openTime = changeRow(file, 10, row => {
      row[5] = after
    })
    const [run, json, unaudited] = await Promise.all([
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h,4h', ...MIRROR, '-v']),
      sandbox.run(['verify', 'BTCUSDT', '-i', '1h,4h', ...MIRROR, '--json']),
      sandbox.call(['verify', 'BTCUSDT', '-i', '1h,4h', ...MIRROR, '--no-audit']),
    ])
    expect([run.code, json.code, unaudited.code]).toEqual([6, 6, 0])
    const time = new Date(openTime).toISOString().replace('.000Z', 'Z')
    expect(run.stdout).toContain(`BTCUSDT 4h ${time} volume: ${after}, but its 1h candles make ${before}`)
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
    expect(run.stdout).toMatch(/^BTCUSDT 1h \S+Z to \S+Z: 3 candles missing, for other symbols too: an outage/m)
  })

  it('names a corrupt window and ends with 6', async () => {
    const sandbox = sandboxWithMirror()
    const file = sandbox.path('m/api/klines/1h/BTCUSDT/2025-02-01.json')
    writeFileSync(file, readFileSync(file).subarray(0, 500))
    const run = await sandbox.call(['verify', 'BTCUSDT', '-i', '1h', ...MIRROR, '-v'])
    expect(run.code).toBe(6)
    expect(run.stdout).toContain('BTCUSDT 1h window 2025-02-01')
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
    const [json, csv] = await Promise.all([
      sandbox.call(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR, '--json']),
      sandbox.run(['stats', 'BTCUSDT', '-i', '1d', ...MIRROR, '-f', 'csv']),
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
  })
})

describe('--resample', () => {
  const rows = async (sandbox: ReturnType<typeof newSandbox>, args: string[]) =>
    sandbox.call(['export', 'BTCUSDT', ...args, ...MIRROR, '-f', 'csv', '-o', '-'])

  it('of hours writes the same bytes as the days, and names files by the new interval', async () => {
    const sandbox = sandboxWithMirror()
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
    const sandbox = sandboxWithMirror()
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
    [['-i', '4h', '--resample', '6h'], '6h candles cannot be made of 4h candles'],
    [['-i', '1h', '--resample', '1x'], '1x'],
    [['-i', '1h,4h', '--resample', '1d'], '1h, 4h'],
    [['-i', '1h', '--resample', '1d', '--derive'], '--derive'],
  ])('%j is a usage error', async (args, words) => {
    const run = await rows(sandboxWithMirror(), args)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(words)
  })

  it('--derive builds a missing interval from the finest cached one', async () => {
    const sandbox = sandboxWithMirror()
    const own = await rows(sandbox, ['-i', '1d'])
    await sandbox.shell(`rm -r '${join(sandbox.path('m'), 'api/klines/1d')}'`)
    const [plain, derived] = await Promise.all([rows(sandbox, ['-i', '1d']), rows(sandbox, ['-i', '1d', '--derive'])])
    expect(plain.code).toBe(4)
    expect(derived.code).toBe(0)
    expect(lines(derived.stdout).length).toBeGreaterThan(50)
    for (const line of lines(derived.stdout)) expect(own.stdout).toContain(line)
  })

  it.each(['1h,1d', '2h,1d'])(
    '--derive of %s ends each series at the end of the range, not of its last day',
    async intervals => {
      const sandbox = sandboxWithMirror()
      await sandbox.shell(`rm -r '${join(sandbox.path('m'), 'api/klines/1d')}'`)
      const to = '2025-01-15T05:00Z'
      const args = ['BTCUSDT', '-i', intervals, '--derive', '--from', '2025-01-10', '--to', to, '--mirror', 'm', '-q']
      expect(await sandbox.call(['export', ...args, '-o', '{interval}.csv'])).toMatchObject({ code: 0 })
      for (const interval of intervals.split(',')) {
        const rows = lines(readFileSync(sandbox.path(`${interval}.csv`), 'utf8'))
        const times = rows.map(line => Number(line.split(',')[0])).filter(time => !Number.isNaN(time))
        expect(times.length).toBeGreaterThan(4)
        expect(Math.max(...times)).toBeLessThan(Date.parse(to))
      }
    },
  )
})
