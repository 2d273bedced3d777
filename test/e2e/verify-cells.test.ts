import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { makeOffGridTree } from '../support/off-grid-tree.js'
import { type FileRow, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'
import { putFile, type Row } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const OPEN = Date.parse('2025-02-10T21:00Z')
const HOUR = ['--from', '2025-02-10T21:00', '--to', '2025-02-10T22:00']
const FEBRUARY = 'api/klines/1h/BTCUSDT/2025-02-01.json'

/** A sandbox with the sample as the mirror `m`. */
function sampleMirror(): CliSandbox {
  const sandbox = newSandbox()
  // The sample ends with March 2025.
  sandbox.now = Date.UTC(2025, 3, 2)
  cpSync(SAMPLE_TREE, sandbox.path('m'), { recursive: true, preserveTimestamps: true })
  rmSync(join(sandbox.path('m'), 'mirror.json'))
  return sandbox
}

const verify = (sandbox: CliSandbox, ...args: string[]) => sandbox.call(['verify', ...args, '--mirror', 'm', '-v'])

/** Changes a cell of the candle of 21:00. */
function setCell(sandbox: CliSandbox, cell: number, value: string): void {
  const rows: Row[] = JSON.parse(readFileSync(sandbox.path(`m/${FEBRUARY}`), 'utf8'))
  const changed = rows.map(row => (row[0] === OPEN ? row.with(cell, value) : row))
  putFile(sandbox.path('m'), FEBRUARY, changed)
}

describe('klines verify -v of a short range', () => {
  it('shows the candle beside its exact sum, cell by cell; every line fits 80 columns', async () => {
    const row = sampleRows('BTCUSDT', '1h').find(([openTime]) => openTime === OPEN) as FileRow
    const run = await verify(sampleMirror(), 'BTCUSDT', '-i', '1h', ...HOUR)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout.split('\n').filter(line => line.length > 80)).toEqual([])
    expect(run.stdout).toMatch(/^BTCUSDT 1h 2025-02-10 21:00 \(UTC\):\n +candle +sum of 4 x 15m$/m)
    for (const [column, index] of [
      ['open', 1],
      ['volume', 5],
      ['count', 8],
      ['ignore', 11],
    ] as const)
      expect(run.stdout).toMatch(new RegExp(`^${column} +${row[index]} +${row[index]}$`, 'm'))
    expect(run.stdout).toMatch(/^close_time +2025-02-10 21:59:59\.999 +2025-02-10 21:59:59\.999$/m)
  })

  it('marks a cell of which the finer candles have another sum', async () => {
    const sandbox = sampleMirror()
    setCell(sandbox, 5, '1.00000000')
    const run = await verify(sandbox, 'BTCUSDT', '-i', '15m,1h', ...HOUR)
    expect(run.code).toBe(6)
    expect(run.stdout).toMatch(/^volume +1\.00000000 +[\d.]+ +!=$/m)
  })

  it('candles off the grid, where the exchange itself has them, have no sum', async () => {
    const sandbox = newSandbox()
    makeOffGridTree(sandbox.path('m'))
    const run = await verify(sandbox, 'BTCUSDT', '-i', '1h', '--from', '2018-02-09T09:00', '--to', '2018-02-09T11:00')
    expect(run.stdout).toContain('\nBTCUSDT 1h 2018-02-09 09:28:14.789 (UTC):\n')
    expect(run.stdout).not.toContain('sum of')
  })
})
