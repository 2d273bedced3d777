import { appendFileSync, cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../support/cases.js'
import { filesBelow } from '../support/files-below.js'
import { GrowingMirror } from './support/growing-mirror.js'
import { type GrowingService, growingExchange, growingTree, type Lie } from './support/growing-service.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The folder of the indexes of all series, and that of the series. */
const INDEX = '.klines'

/** What the exchange has in place of its candles at the moment. */
interface Lying {
  lie?: Lie | undefined
}

const LIES: readonly Lie[] = [
  () => [],
  rows => rows.filter(([openTime]) => new Date(openTime).getUTCDate() <= 14),
  rows => rows.filter(([openTime]) => openTime >= Date.UTC(2026, 2, 20)),
]

const KINDS: [string, (lying?: Lying) => Promise<GrowingService>][] = [
  ['a static service', growingTree],
  ['the exchange', (lying = {}) => growingExchange(() => lying.lie)],
]

describe.each(KINDS)('F72 a mirror of %s', (_, open) => {
  it('that was copied without times and is current: what is final stays so, without a request', async () => {
    const world = new GrowingMirror(await open())
    for (const next of [world.service.end - world.time, 2 * HOUR, 30 * DAY, 2 * HOUR]) {
      world.advance(next)
      await world.download()
    }
    world.service.requests()
    await world.download()
    const asked = world.service.requests()
    world.mirror = world.copy()
    await world.download()
    expect(world.service.requests()).toEqual(asked)
    world.expectCurrent()
  })

  it('F89 in any sequence of downloads, deploys, copies, backups, losses, a lie and a removal has no hole in the end', async () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('advance' as const),
        days: fc.integer({ min: 0, max: 20 }),
        renders: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('deploy again' as const) }),
      fc.record({ kind: fc.constant('download' as const), from: share, to: share }),
      fc.record({ kind: fc.constant('copy' as const) }),
      fc.record({ kind: fc.constant('back up' as const) }),
      fc.record({
        kind: fc.constant('restore' as const),
        parts: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
        withTimes: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('lose index' as const) }),
      fc.record({ kind: fc.constant('lie' as const), lie: fc.constantFrom(...LIES) }),
      fc.record({ kind: fc.constant('clear' as const) }),
      fc.record({ kind: fc.constant('tear index' as const), share }),
      fc.record({ kind: fc.constant('lose windows' as const), parts: fc.array(fc.boolean(), { maxLength: 8 }) }),
    )
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
      const lying: Lying = {}
      const world = new GrowingMirror(await open(lying))
      const { service } = world
      let hasLied = false
      let backup: string | undefined
      const windows = () => service.startDates.map(service.path).filter(path => existsSync(join(world.mirror, path)))
      for (const one of steps) {
        if (one.kind === 'advance') world.advance(one.days * DAY, one.renders)
        else if (one.kind === 'deploy again') service.deployAgain()
        else if (one.kind === 'download') {
          const [first, last] = [one.from, one.to].map(part => Math.floor(part * (service.startDates.length - 1)))
          const [from, to] = [service.startDates[first], service.startDates[last + 1]]
          if (to === undefined || from < to) await world.download({ from, to })
        } else if (one.kind === 'lie' && !hasLied) {
          hasLied = true
          lying.lie = one.lie
          await world.download()
          world.advance(10 * MINUTE)
          await world.download()
          lying.lie = undefined
        } else if (!existsSync(world.mirror)) continue
        else if (one.kind === 'clear') rmSync(world.mirror, { recursive: true })
        else if (one.kind === 'copy') world.mirror = world.copy()
        else if (one.kind === 'back up') backup = world.copy()
        else if (one.kind === 'restore' && backup !== undefined) {
          for (const [index, name] of filesBelow(backup).entries()) {
            if (!one.parts[index % one.parts.length]) continue
            cpSync(join(backup, name), join(world.mirror, name), { preserveTimestamps: one.withTimes })
            if (!one.withTimes) world.touch(world.mirror, [name])
          }
        } else if (one.kind === 'lose index') rmSync(join(world.mirror, INDEX), { recursive: true, force: true })
        else if (one.kind === 'tear index') {
          for (const name of filesBelow(join(world.mirror, INDEX))) {
            const file = join(world.mirror, INDEX, name)
            truncateSync(file, Math.floor(one.share * readFileSync(file).length))
            appendFileSync(file, '"2026')
          }
        } else if (one.kind === 'lose windows')
          for (const [index, path] of windows().entries()) if (one.parts[index]) rmSync(join(world.mirror, path))
      }
      world.advance(Math.max(service.end - world.time, 2 * DAY))
      for (let last = 0; last < 2; last++) {
        await world.download()
        world.advance(2 * HOUR)
      }
      world.expectCurrent()
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), { numRuns: cases(40, 12) })
  })
})

it('F72 an index names no file: nothing outside of the tree is read, and only requests are lost', async () => {
  const world = new GrowingMirror(await growingTree())
  await world.download()
  const lie = { size: 2, sha256: '0'.repeat(64), rendered: 9999999999999, asked: 9999999999999 }
  const file = join(world.mirror, INDEX, '15m/BTCUSDT.json')
  const index = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...index, '../../../etc/passwd': lie, '2025-01-13': lie }))
  world.advance(world.service.end - world.time)
  await world.download()
  world.expectCurrent()
})
