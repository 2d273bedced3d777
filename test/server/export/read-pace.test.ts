import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ReadPace } from '../../../src/server/export/read-pace.js'

const PART = 65_536
const LIMIT = { bytesPerSecond: 65_536, periodMs: 30_000 }

/** A client, and a clock that only its waiting and `work` move. */
function startClient() {
  let now = 0
  const pace = new ReadPace(LIMIT, () => now)
  /** Takes bytes after the server has waited for so long. */
  const take = async (bytes: number, ms: number) => {
    const later = Promise.resolve().then(() => {
      now += ms
    })
    await pace.wait(later)
    pace.add(bytes)
  }
  const work = (ms: number) => {
    now += ms
  }
  return { pace, take, work }
}

it.each([
  [10_000, true],
  [60_000, true],
  [65_000, true],
  [66_000, false],
  [1_000_000, false],
])('a client that reads %i bytes a second: slow after 30 s is %s, and never before', async (rate, isSlow) => {
  const { pace, take } = startClient()
  const partMs = (PART / rate) * 1000
  for (let ms = 0; ms < 120_000; ms += partMs) {
    if (ms < 30_000) expect(pace.isSlow()).toBe(false)
    else expect(pace.isSlow(), `${ms}`).toBe(isSlow)
    await take(PART, partMs)
  }
})

it('a client that stops is slow within 30 s, whatever it has read before', async () => {
  const quick = fc.array(fc.tuple(fc.integer({ min: 1, max: 20 * PART }), fc.integer({ min: 0, max: 900 })), {
    maxLength: 300,
  })
  await fc.assert(
    fc.asyncProperty(quick, async reads => {
      const { pace, take, work } = startClient()
      // Never slower than the limit.
      for (const [bytes, ms] of reads) await take(bytes + Math.ceil((ms / 1000) * LIMIT.bytesPerSecond), ms)
      expect(pace.isSlow()).toBe(false)
      void pace.wait(new Promise(() => {}))
      work(LIMIT.periodMs)
      expect(pace.isSlow()).toBe(true)
    }),
  )
})

it('the time in which the server makes the bytes does not count', async () => {
  const { pace, take, work } = startClient()
  for (let part = 0; part < 200; part++) {
    work(10_000)
    await take(100, 1)
    expect(pace.isSlow()).toBe(false)
  }
})

it('a client that reads in bursts is not slow', async () => {
  const { pace, take } = startClient()
  for (let burst = 0; burst < 20; burst++) {
    await take(2_000_000, 29_000)
    expect(pace.isSlow()).toBe(false)
    for (let part = 0; part < 20; part++) await take(PART, 1)
    expect(pace.isSlow()).toBe(false)
  }
})
