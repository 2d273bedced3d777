import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { countThreads } from '../../src/engine/threads.js'

const DEFAULT = Math.min(availableParallelism(), 8)

describe('the number of threads', () => {
  it.each([
    ['as many as requested, for little work too', 16, 16, 16, 16],
    ['one a task at most', 3, 5_000, 16, 3],
    ['one, for less than a task', 0, 0, 4, 1],
    ['one by default for fewer than 2,000 windows', 36, 1_999, undefined, 1],
    ['by default one a core, at most 8', 36, 2_000, undefined, DEFAULT],
    ['one when one is requested', 36, 50_000, 1, 1],
  ])('is %s', (_, tasks, windows, requested, expected) => {
    expect(countThreads(tasks, windows, { threads: requested })).toBe(expected)
  })

  it.each([0, -1, 1.5, 257, Number.NaN])('%d is refused', threads => {
    expect(() => countThreads(1, 1, { threads })).toThrow(
      `--threads is ${threads}. Expected a whole number from 1 to 256.`,
    )
  })
})
