import { expect, it } from 'vitest'
import { Mirror } from '../../../src/mirror/mirror.js'
import { type ExportSlot, ExportSlots, SlowReaderError } from '../../../src/server/export/slots.js'
import { type Deferred, deferred, turns, until } from '../../support/deferred.js'
import { tempFolder } from '../../support/temp-folder.js'

const LIMIT = { bytesPerSecond: 65_536, periodMs: 30 }
const HOUR = 3_600_000
const AT_ONCE = 4
const MAX_WAITING = 100

/** Exports that run until they are told to end; `begun` has their names in order. */
function startExports(periodMs = HOUR) {
  const slots = new ExportSlots(new Mirror(tempFolder()), { ...LIMIT, periodMs })
  const begun: string[] = []
  const ends = new Map<string, Deferred>()
  const running = new Map<string, ExportSlot>()
  const run = (name: string, left = new AbortController().signal) => {
    const end = deferred()
    ends.set(name, end)
    return slots.run(left, async slot => {
      begun.push(name)
      running.set(name, slot)
      await end.promise
    })
  }
  const end = (name: string) => ends.get(name)?.resolve()
  return { slots, begun, running, run, end }
}

it('four run at once, and the others begin in the order in which they came', async () => {
  const { begun, run, end } = startExports()
  const names = Array.from({ length: 12 }, (_, index) => `export ${index}`)
  const ended = names.map(name => run(name))
  await turns()
  expect(begun).toEqual(names.slice(0, AT_ONCE))
  // Whichever ends, the one that came first is next.
  for (const [count, index] of [3, 0, 2, 1, 5, 4, 6, 7].entries()) {
    end(names[index])
    await ended[index]
    await turns()
    expect(begun).toEqual(names.slice(0, Math.min(AT_ONCE + count + 1, names.length)))
  }
  for (const name of names) end(name)
  await Promise.all(ended)
})

it('one whose client leaves while it waits never begins, and the next one takes its turn', async () => {
  const { begun, run, end } = startExports()
  const first = Array.from({ length: AT_ONCE }, (_, index) => run(`first ${index}`))
  const left = new AbortController()
  const gone = run('gone', left.signal)
  const next = run('next')
  left.abort(new Error('left'))
  await expect(gone).rejects.toThrow('left')
  await expect(run('never', left.signal)).rejects.toThrow('left')
  end('first 2')
  await first[2]
  await turns()
  expect(begun.slice(AT_ONCE)).toEqual(['next'])
  for (const name of ['first 0', 'first 1', 'first 3', 'next']) end(name)
  await Promise.all([...first, next])
})

it('beyond a hundred that wait, the next one is refused', async () => {
  const { run, end, begun } = startExports()
  const all = Array.from({ length: AT_ONCE + MAX_WAITING }, (_, index) => run(`${index}`))
  await expect(run('refused')).rejects.toMatchObject({ statusCode: 503, headers: { 'retry-after': '30' } })
  for (let index = 0; index < all.length; index++) end(`${index}`)
  await Promise.all(all)
  expect(begun).toHaveLength(all.length)
})

it('a failed one frees its place', async () => {
  const { slots, run, end, begun } = startExports()
  const signal = new AbortController().signal
  for (let count = 0; count < 2 * AT_ONCE; count++) {
    await expect(slots.run(signal, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  }
  const four = Array.from({ length: AT_ONCE }, (_, index) => run(`${index}`))
  await turns()
  expect(begun).toHaveLength(AT_ONCE)
  for (let index = 0; index < AT_ONCE; index++) end(`${index}`)
  await Promise.all(four)
})

it('slow ones run on as long as nobody waits, and are ended as soon as somebody does; quick ones stay', async () => {
  const { slots, running, run, end } = startExports(LIMIT.periodMs)
  const signal = new AbortController().signal
  const paces: ExportSlot['pace'][] = []
  const slow = Array.from({ length: AT_ONCE - 1 }, () =>
    slots.run(signal, async ({ pace, signal }) => {
      paces.push(pace)
      const never = new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      await pace.wait(never)
    }),
  )
  const quick = run('quick')
  await until(() => paces.length === AT_ONCE - 1 && paces.every(pace => pace.isSlow()))
  await turns()
  const ended = Promise.allSettled(slow)
  const next = run('next')
  const results = await ended
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(SlowReaderError) })
    expect((result as PromiseRejectedResult).reason.message).toContain(
      'less than 64 KB/s for 0.03 s while other exports',
    )
  }
  await until(() => running.has('next'))
  expect(running.get('quick')?.signal.aborted).toBe(false)
  for (const name of ['quick', 'next']) end(name)
  await Promise.all([quick, next])
})
