import { expect, it } from 'vitest'
import { describeAge } from '../../../src/server/viewer/home/age.js'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const END = Date.UTC(2025, 0, 1)

it.each([
  [HOUR - 1, 'now', 'fresh'],
  [HOUR, '60 min old', 'fresh'],
  [2 * HOUR - MINUTE, '119 min old', 'fresh'],
  [47 * HOUR, '47 h old', 'fresh'],
  [2 * DAY, '2 d old', 'recent'],
  [59 * DAY, '59 d old', 'old'],
  [207 * DAY, '6 mo old', 'old'],
  [729 * DAY, '24 mo old', 'old'],
  [800 * DAY, '2 y old', 'old'],
])('a candle of 1h that closed %i ms ago is %s', (ms, text, kind) => {
  expect(describeAge('1h', END - HOUR, END + ms)).toEqual({ text, kind })
})
