import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { windowPath } from '../../src/candles/paths.js'
import { fingerprintFiles } from '../../src/identity/fingerprint.js'
import type { LakeManifest } from '../../src/lake/manifest.js'
import type { LakeRequest } from '../../src/lake/plan.js'
import { exportLake } from '../../src/lake/update.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { sampleRow } from '../support/windows.js'

const HOUR = 3_600_000
const YEARS = [2022, 2023, 2024]
const MONTHS = YEARS.flatMap(year => Array.from({ length: 12 }, (_, month) => Date.UTC(year, month)))
const startDateOf = (time: number) => new Date(time).toISOString().slice(0, 10)

/** A mirror of two candles a month, and a lake of it. */
function yearsSetup(options: Partial<LakeRequest> = {}) {
  const folder = tempFolder()
  const [mirror, output] = [join(folder, 'mirror'), join(folder, 'lake')]
  const months = new Map(MONTHS.map(time => [startDateOf(time), [sampleRow(time), sampleRow(time + 5 * HOUR)]]))
  const put = (startDate: string, rows: KlineRow[]) => {
    months.set(startDate, rows)
    putFile(mirror, windowPath({ symbol: 'BTCUSDT', interval: '1h', startDate }), rows)
  }
  for (const [startDate, rows] of months) put(startDate, rows)
  const range = { from: '2022', to: '2025' }
  const request = {
    symbols: ['BTCUSDT'],
    intervals: ['1h' as const],
    mirror,
    output,
    offline: true,
    ...range,
    ...options,
  }
  const update = (more: Partial<LakeRequest> = {}) => exportLake({ ...request, ...more })
  const manifest = (): LakeManifest => JSON.parse(readFileSync(join(output, '_klines.json'), 'utf8'))
  const expected = () => fingerprintOf('BTCUSDT', '1h', [...months.values()].flat())
  return { put, update, manifest, expected, output }
}

// The versions of files that were just written are not trusted.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  onTestFinished(() => void vi.useRealTimers())
})

describe('a lake with fingerprints', () => {
  it('has them in its manifest', async () => {
    const { update, manifest, expected, output } = yearsSetup({ numbers: 'decimal' })
    await update()
    const report = await update({ fingerprint: true })
    const [{ fingerprint }] = manifest().series
    expect(fingerprint).toMatchObject({ symbol: 'BTCUSDT', interval: '1h', fingerprint: expected(), candles: 72 })
    expect(fingerprint?.years.map(({ year, candles }) => [year, candles])).toEqual(YEARS.map(year => [year, 24]))
    expect(report.fingerprints).toEqual({ series: [fingerprint], set: undefined })
    expect(manifest().series[0].part?.rows).toBe(72)
    expect((await fingerprintFiles([output])).series).toEqual([{ ...fingerprint, file: output, named: false }])
  })

  it('has that of a year that lost and got candles', async () => {
    const { put, update, manifest, expected } = yearsSetup()
    await update({ fingerprint: true })
    const clear = (year: number) =>
      MONTHS.filter(time => new Date(time).getUTCFullYear() === year).map(time => put(startDateOf(time), []))
    for (const change of [
      () => clear(2022),
      () => clear(2024),
      () => put('2024-03-01', [sampleRow(Date.UTC(2024, 2))]),
    ]) {
      change()
      const { fingerprints } = await update({ fingerprint: true })
      expect(fingerprints?.series[0].fingerprint).toBe(expected())
      expect(manifest().series[0].fingerprint).toEqual(fingerprints?.series[0])
    }
    // It is kept up by a run that does not ask for it.
    put('2023-03-01', [])
    await update()
    expect(manifest().series[0].fingerprint?.fingerprint).toBe(expected())
  })

  it('of resampled candles and of a range that moves has those of all its candles', async () => {
    const { put, update, output } = yearsSetup({ resample: '1M', numbers: 'text', fingerprint: true, partial: true })
    for (const date of ['2022-02-01', '2024-02-01']) {
      put(date, [sampleRow(Date.parse(date), { 5: '9' })])
      const { fingerprints } = await update()
      expect(fingerprints?.series[0]).toMatchObject({ interval: '1M', candles: 36 })
      expect((await fingerprintFiles([output])).series[0].fingerprint).toBe(fingerprints?.series[0].fingerprint)
    }
  })
})
