import fc from 'fast-check'
import { expect, it } from 'vitest'
import { placeLabels } from '../../../src/server/viewer/gap-bands.js'

const lefts = (bands: readonly (readonly [number, number])[], width = 100) =>
  placeLabels(
    bands.map(([from, to]) => ({ text: `${from}`, width, from, to })),
    1000,
    1,
  ).map(({ text, left }) => [text, left])

it.each<[string, [number, number][], [string, number][]]>([
  ['over the middle of its band', [[400, 600]], [['400', 450]]],
  ['also over a thin band', [[500, 507]], [['500', 453.5]]],
  [
    'inside the pane',
    [
      [0, 20],
      [990, 1000],
    ],
    [
      ['0', 0],
      ['990', 900],
    ],
  ],
  ['not over a hair', [[500, 503]], []],
  [
    'the wider band first, where both have no room',
    [
      [300, 310],
      [340, 390],
    ],
    [['340', 315]],
  ],
])('a label stands %s', (_, bands, expected) => {
  expect(lefts(bands)).toEqual(expected)
})

it('labels never touch and never leave the pane', () => {
  const band = fc
    .tuple(fc.nat(990), fc.nat(300))
    .map(([from, length]) => [from, Math.min(1000, from + length)] as const)
  fc.assert(
    fc.property(fc.array(band), fc.integer({ min: 20, max: 400 }), (bands, width) => {
      const placed = lefts(bands, width).map(([, left]) => Number(left))
      for (const left of placed) {
        expect(left).toBeGreaterThanOrEqual(0)
        expect(left + width).toBeLessThanOrEqual(1000)
        expect(placed.filter(other => Math.abs(other - left) < width + 6)).toEqual([left])
      }
    }),
  )
})
