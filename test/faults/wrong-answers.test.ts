import { it } from 'vitest'
import { GrowingMirror } from './support/growing-mirror.js'
import { growingExchange, type Lie } from './support/growing-service.js'

const HOUR = 3_600_000

const LIES: [string, Lie][] = [
  ['[] for everything', () => []],
  ['half of each month', rows => rows.filter(([openTime]) => new Date(openTime).getUTCDate() <= 14)],
  ['[] for one month', rows => rows.filter(([openTime]) => new Date(openTime).getUTCMonth() !== 2)],
  ['a first candle in the last month', rows => rows.filter(([openTime]) => openTime >= Date.UTC(2026, 3, 11))],
]

/** A mirror of an exchange that lies while `lie` is set, after all of its windows are over. */
async function setUp() {
  const lying: { lie: Lie | undefined } = { lie: undefined }
  const mirror = new GrowingMirror(await growingExchange(() => lying.lie))
  mirror.advance(mirror.service.end - mirror.time)
  return { mirror, lying }
}

it.each(LIES)('the exchange answers %s after right answers: no candle is lost', async (_, lie) => {
  const { mirror, lying } = await setUp()
  await mirror.download()
  mirror.advance(2 * HOUR)
  lying.lie = lie
  for (const refresh of [false, true]) {
    await mirror.download({ refresh })
    mirror.expectCurrent()
  }
})
