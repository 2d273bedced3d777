import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isKlinesError } from '../../src/candles/errors.js'
import { downloadKlines, updateKlines } from '../../src/engine/klines.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { cases } from '../support/cases.js'
import { tempFolder } from '../support/temp-folder.js'
import { DeployedService, MONTHS, WEEKS } from './support/deployed-service.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const share = fc.double({ min: 0, max: 0.999, noNaN: true })
const old = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 })
const deployment = fc.oneof(
  fc.record({
    how: fc.constantFrom('healthy' as const, 'lagging' as const, 'constant times' as const, 'no times' as const),
  }),
  fc.record({ how: fc.constant('rolled back' as const), to: share }),
  fc.record({ how: fc.constantFrom('half done' as const, 'mixed by a cache' as const), old, to: share }),
)
const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('deploy' as const), hours: fc.integer({ min: 1, max: 400 }), deployment }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      hours: fc.integer({ min: 0, max: 40 }),
      refresh: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('download' as const),
      hours: fc.integer({ min: 0, max: 40 }),
      from: share,
      to: share,
    }),
  },
)

describe.each([
  ['weeks of 15m', WEEKS],
  ['months of 1h', MONTHS],
])('%s', (_, calendar) => {
  it('after any sequence of deployments, updates and downloads no window stays wrong after two healthy updates', async () => {
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
      const service = await DeployedService.start(calendar)
      const mirror = join(tempFolder(), 'm')
      const asked = () => ({ baseUrl: service.url, mirror, now: service.time })
      // A service that lags may have no candle of a range, and one that was rolled back none that is cached.
      const ignore = (error: unknown) => {
        if (!isKlinesError(error, 'no_candles')) throw error
      }
      const download = (from: string, to?: string) =>
        downloadKlines({ ...asked(), symbols: ['BTCUSDT'], intervals: [calendar.interval], from, to }).catch(ignore)
      const update = (refresh = false) =>
        existsSync(mirror) ? updateKlines({ ...asked(), refresh }).catch(ignore) : download(calendar.dates[0])
      for (const one of steps) {
        service.advance(one.hours * HOUR)
        if (one.kind === 'deploy') service.deploy(one.deployment)
        else if (one.kind === 'update') await update(one.refresh)
        else {
          const begun = calendar.dates.filter(date => Date.parse(date) <= service.time)
          const [first, last] = [one.from, one.to].map(part => Math.floor(part * begun.length))
          if (first <= last) await download(begun[first], begun[last + 1])
        }
      }
      service.advance(Math.max(0, service.end - service.time))
      for (let healthy = 0; healthy < 2; healthy++) {
        service.advance(DAY)
        service.deploy({ how: 'healthy' })
        service.advance(HOUR)
        await update()
      }
      const paths = service.windows.map(date => [
        date,
        join(mirror, 'api/klines', calendar.interval, 'BTCUSDT', `${date}.json`),
      ])
      const cached = paths.slice(paths.findIndex(([, path]) => existsSync(path)))
      for (const [date, path] of cached)
        expect([date, JSON.parse(readFileSync(path, 'utf8')).length]).toEqual([
          date,
          service.rowsAt(date, service.time).length,
        ])
      const { series } = await verifyKlines({
        mirror,
        symbols: ['BTCUSDT'],
        intervals: [calendar.interval],
        now: service.time,
      })
      expect(series[0]).toMatchObject({ corrupt: [], missingWindows: [] })
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 14 }), run), { numRuns: cases(250, 12) })
  }, 900_000)
})
