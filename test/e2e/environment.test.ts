import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const ROWS = sampleRows('BTCUSDT', '1d')
const NEWEST = ROWS[ROWS.length - 1]
const DAILY = csvOf(ROWS)
const isoRow = (row: (typeof ROWS)[number]) =>
  row.map((cell, index) => (index % 6 === 0 ? new Date(cell).toISOString() : cell))

describe.concurrent('environment variables', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = newSandbox()
    const env = { KLINES_BASE_URL: 'sample', KLINES_MIRROR: 'mirror', KLINES_INTERVAL: '12h,1d', KLINES_QUIET: '1' }
    const run = await sandbox.call(['download', 'BTCUSDT'], env)
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it.each<[Record<string, string>, string]>([
    [{ KLINES_FORMAT: 'csv' }, DAILY],
    [{ KLINES_FORMAT: 'csv', KLINES_OUTPUT: '-' }, DAILY],
    [
      { KLINES_FORMAT: 'csv', KLINES_COLUMNS: 'count,ignore', KLINES_FROM: '2025-03-30' },
      csvOf([[NEWEST[8], NEWEST[11]]], 'count,ignore'),
    ],
    [
      { KLINES_FORMAT: 'csv', KLINES_TO: '2025-01-01', KLINES_LAST: '1d', KLINES_TIME_FORMAT: 'iso' },
      csvOf([isoRow(ROWS[1])]),
    ],
  ])('%j has the effect of its flags', async (env, expected) => {
    const run = await sandbox.call(['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror'], env)
    expect(run).toMatchObject({ code: 0, stdout: expected, stderr: '' })
  })

  it.each<[Record<string, string>, string, number]>([
    [{ KLINES_LAST: '1d' }, '--from 2025-03-29', 2],
    [{ KLINES_FROM: '2025-03-30' }, '--last 3d --to 2025-03-31', 3],
    [{ KLINES_TAIL: '1' }, '--limit 2', 2],
    [{ KLINES_LIMIT: '1' }, '--tail 2', 2],
  ])('%j gives way to %s', async (env, flags, candles) => {
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror', '-f', 'jsonl', ...flags.split(' ')]
    expect((await sandbox.call(args, env)).stdout.trimEnd().split('\n')).toHaveLength(candles)
  })

  it.each([
    ['true', 0],
    ['Y', 0],
    ['0', 2],
    ['No', 2],
    ['', 2],
  ])('KLINES_FORCE=%s on a file that exists gives exit code %d', async (KLINES_FORCE, code) => {
    const name = sandbox.write(`old-${KLINES_FORCE}.csv`, 'old')
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror', '-o', name]
    const stderr = code === 0 ? '' : expect.stringContaining('exists already')
    expect(await sandbox.call(args, { KLINES_FORCE })).toMatchObject({ code, stderr })
    expect(sandbox.text(`old-${KLINES_FORCE}.csv`) === 'old').toBe(code === 2)
  })

  it.each([
    ['KLINES_FORCE', 'maybe', ['export', 'BTCUSDT', '-i', '1d', '-o', 'switch.csv']],
    ['KLINES_FAIL_ON_GAPS', 'yes!', ['verify', 'BTCUSDT', '-i', '1d']],
  ])('%s=%s is an error, and not "off"', async (variable, value, args) => {
    const run = await sandbox.call([...args, '--mirror', 'mirror'], { [variable]: value })
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(
      `klines: ${variable} is "${value}". Expected one of 1, true, yes, y, on, or of 0, false,`,
    )
    expect(sandbox.exists('switch.csv')).toBe(false)
  })

  it('an invalid value of a variable is a usage error that shows the value', async () => {
    const args = ['export', 'BTCUSDT', '-i', '1d', '--mirror', 'mirror']
    for (const [env, value] of [
      [{ KLINES_FORMAT: 'xml' }, 'Set elsewhere: KLINES_FORMAT'],
      [{ KLINES_FROM: 'tomorrow' }, 'Set elsewhere: KLINES_FROM'],
      [{ KLINES_COLUMNS: 'open_time,foo' }, 'Set elsewhere: KLINES_COLUMNS'],
      [{ KLINES_THREADS: 'abc' }, 'Set elsewhere: KLINES_THREADS'],
      [{ KLINES_THREADS: '0' }, 'Set elsewhere: KLINES_THREADS'],
    ] as const) {
      const run = await sandbox.call(args, env)
      expect(run).toMatchObject({ code: 2, stdout: '' })
      expect(run.stderr).toContain(value)
    }
  })
})
