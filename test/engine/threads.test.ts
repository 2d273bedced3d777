import { availableParallelism } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
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

  const MB = 1_000_000
  it.each([
    ['one in a container of 60 MB', 60 * MB, undefined, 1],
    ['one in 120 MB', 120 * MB, undefined, 1],
    ['two in 256 MB', 256 * MB, undefined, Math.min(DEFAULT, 2)],
    ['as many as requested in 120 MB', 120 * MB, 4, 4],
    ['one a core without a container', 0, undefined, DEFAULT],
    ['one a core in a container without a limit', 2 ** 64, undefined, DEFAULT],
  ])('is by default one for each 100 MB of memory: %s', (_, limit, threads, expected) => {
    const spy = vi.spyOn(process, 'constrainedMemory').mockReturnValue(limit)
    try {
      expect(countThreads(36, 5_000, { threads })).toBe(expected)
    } finally {
      spy.mockRestore()
    }
  })

  it.each([0, -1, 1.5, 257, Number.NaN])('%d is refused', threads => {
    expect(() => countThreads(1, 1, { threads })).toThrow(
      `--threads is ${threads}. Expected a whole number from 1 to 256.`,
    )
  })
})
