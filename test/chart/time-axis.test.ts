import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timeLabels } from '../../src/chart/time-axis.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const every = (step: number, length: number, start: number) =>
  Array.from({ length }, (_, index) => start + index * step)
const months = (length: number, year: number) => Array.from({ length }, (_, month) => Date.UTC(year, month))

/** Labels in slots of one column, with two blanks behind each. */
const labels = (openTimes: readonly number[]) =>
  timeLabels(openTimes, characters => characters + 2).map(({ index, text }) => `${index}:${text}`)

describe('labels', () => {
  it.each([
    ['quarter hours: every 2 h', every(HOUR / 4, 24, Date.UTC(2024, 1, 28, 21)), '4:22:00 12:02-29 20:02:00'],
    ['hours from midnight: the first one is a day', every(HOUR, 20, Date.UTC(2024, 1, 28)), '0:02-28 12:12:00'],
    ['days: Mondays', every(DAY, 20, Date.UTC(2024, 1, 28)), '5:03-04 12:03-11 19:03-18'],
    ['two days: the 1st and the 15th', every(2 * DAY, 30, Date.UTC(2024, 2, 1)), '0:03-01 7:03-15 16:04-02 23:04-16'],
    ['weeks: quarters', every(7 * DAY, 52, Date.UTC(2024, 0, 1)), '0:2024-01 13:2024-04 26:2024-07 40:2024-10'],
    ['months: years', months(30, 2020), '0:2020 12:2021 24:2022'],
  ])('of %s', (_, openTimes, expected) => {
    expect(labels(openTimes).join(' ')).toBe(expected)
  })

  it('one slot has its own time', () => {
    expect(labels([Date.UTC(2024, 1, 29)])).toEqual(['0:2024-02-29'])
    expect(labels([Date.UTC(2024, 1, 29, 13, 30)])).toEqual(['0:2024-02-29 13:30'])
    expect(labels([])).toEqual([])
  })

  it('never touch, and there is one at least', () => {
    const steps = fc.constantFrom(HOUR / 4, HOUR, 8 * HOUR, DAY, 3 * DAY, 7 * DAY)
    const slots = fc.tuple(steps, fc.integer({ min: 1, max: 300 }), fc.nat(2_000_000))
    fc.assert(
      fc.property(slots, fc.integer({ min: 1, max: 12 }), ([step, length, start], characters) => {
        const openTimes = every(step, length, Date.UTC(2010, 0) + Math.floor((start * HOUR) / step) * step)
        const found = timeLabels(openTimes, count => Math.ceil((count + 1) / characters))
        expect(found.length).toBeGreaterThan(0)
        for (const [at, { index, text }] of found.entries()) {
          expect(openTimes[index]).toBeDefined()
          if (at > 0) expect(index).toBeGreaterThan(found[at - 1].index)
          const next = found[at + 1]
          if (next) expect((next.index - index) * characters).toBeGreaterThan(text.length)
        }
      }),
    )
  })
})
