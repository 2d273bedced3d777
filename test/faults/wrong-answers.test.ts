import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GrowingMirror } from './support/growing-mirror.js'
import { growingExchange, type Lie } from './support/growing-service.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const LIES: [string, Lie][] = [
  ['[] for everything', () => []],
  ['half of each month', rows => rows.filter(([openTime]) => new Date(openTime).getUTCDate() <= 14)],
  ['[] for one month', rows => rows.filter(([openTime]) => new Date(openTime).getUTCMonth() !== 2)],
  ['a first candle that is too late', rows => rows.filter(([openTime]) => openTime >= Date.UTC(2026, 2, 20))],
  ['a first candle in the last month', rows => rows.filter(([openTime]) => openTime >= Date.UTC(2026, 3, 11))],
]

/** A mirror of an exchange that lies while `lie` is set, after all of its windows are over. */
async function setUp() {
  const lying: { lie: Lie | undefined } = { lie: undefined }
  const mirror = new GrowingMirror(await growingExchange(() => lying.lie))
  mirror.advance(mirror.service.end - mirror.time)
  return { mirror, lying }
}

describe('F73 wrong answers of the exchange', () => {
  it.each(LIES)('%s, for some minutes: the next day has every candle', async (_, lie) => {
    const { mirror, lying } = await setUp()
    lying.lie = lie
    for (let run = 0; run < 3; run++) {
      await mirror.download()
      mirror.advance(10 * MINUTE)
    }
    lying.lie = undefined
    mirror.advance(DAY)
    await mirror.download()
    mirror.expectCurrent()
  })

  it.each(LIES)('%s, after right ones: no candle is lost', async (_, lie) => {
    const { mirror, lying } = await setUp()
    await mirror.download()
    mirror.advance(2 * HOUR)
    lying.lie = lie
    for (const refresh of [false, true]) {
      await mirror.download({ refresh })
      mirror.expectCurrent()
    }
  })

  it('a window that begins late or ends early is asked for once more, after an hour, and then never', async () => {
    const { mirror } = await setUp()
    const range = { to: '2026-07-01' }
    await mirror.download(range)
    mirror.service.requests()
    mirror.advance(59 * MINUTE)
    await mirror.download(range)
    // A second answer within the hour would prove nothing.
    expect(mirror.service.requests()).toEqual([])
    mirror.advance(2 * MINUTE)
    await mirror.download(range)
    // January and March begin late, February and April end early, and nothing comes after that.
    const months = [1, 2, 3, 4, 5, 6].map(month => `2026-0${month}-01`)
    // Of an answer with fewer candles than asked for, the rest is asked for too.
    expect(
      mirror.service
        .requests()
        .filter(date => date.endsWith('-01'))
        .sort(),
    ).toEqual(months)
    mirror.advance(30 * DAY)
    await mirror.download(range)
    expect(mirror.service.requests()).toEqual([])
    mirror.expectCurrent()
  })

  it('confirmations are counted as windows that have not changed', async () => {
    const { mirror } = await setUp()
    const range = { to: '2026-07-01' }
    expect((await mirror.download(range))?.series[0].windows).toMatchObject({ total: 6, fetched: 6, revalidated: 0 })
    mirror.advance(2 * HOUR)
    expect((await mirror.download(range))?.series[0].windows).toMatchObject({
      total: 6,
      cached: 0,
      fetched: 0,
      revalidated: 6,
    })
  })

  it('a line of the record that is torn costs another request, and makes nothing final', async () => {
    const { mirror } = await setUp()
    await mirror.download()
    const record = join(mirror.mirror, '.klines-record')
    const line = readFileSync(record, 'utf8')
      .split('\n')
      .find(text => text.includes('2026-04-01')) as string
    appendFileSync(record, line.slice(0, -5))
    mirror.advance(2 * HOUR)
    mirror.service.requests()
    await mirror.download()
    expect(mirror.service.requests()).toContain('2026-04-01')
    mirror.expectCurrent()
  })
})
