import { describe, expect, it } from 'vitest'
import { SOAK } from '../support/soak.js'
import { raw, silence } from './support/answers.js'
import { expectPlain } from './support/fault-row.js'
import { ALL_WINDOWS, FAULTY, LIST, usePlaces } from './support/fault-scenario.js'

const newPlace = usePlaces()
const OLD = 'what was there before\n'
/** More calls of a kind than a run makes. */
const MOST_CALLS = 60

const CALLS: readonly [string, string][] = [
  ['openSync', 'm/'],
  ['readSync', 'm/'],
  ['writeSync', 'm/'],
  ['renameSync', 'm/'],
  ['handle.write', '.x.csv'],
  ['handle.sync', '.x.csv'],
  ['promises.open', 'x.csv'],
  ['promises.rename', '.x.csv'],
]

/** Minutes: only where KLINES_SOAK asks for them. */
describe.runIf(SOAK > 0)('every call of the file system, one after the other', () => {
  it.concurrent.each(
    CALLS.flatMap(([call, path]) => ['EIO', 'ENOSPC', 'EMFILE', 'SIGKILL'].map(code => [call, path, code])),
  )(
    'F47 %s in %s fails with %s: nothing wrong is kept, and the next run mends all',
    async (call, path, code) => {
      let at = 1
      for (; at <= MOST_CALLS; at++) {
        const place = await newPlace()
        place.desk.write('x.csv', OLD)
        const env = { KLINES_TEST_FAIL: JSON.stringify({ call, path, code, at, times: 1 }) }
        const { running } = place.start(place.args(['--force', '--concurrency', '2', '-q']), {
          preload: ['failing-fs.mjs'],
          env,
        })
        const run = await running.ended
        const killed = run.signal === 'SIGKILL'
        expect(killed || [0, 1, 2, 3].includes(run.code ?? -1), run.stderr).toBe(true)
        expectPlain(run.stderr)
        const held = place.held({ killed })
        expect([OLD, place.csv()], run.stderr).toContain(place.desk.text('x.csv'))
        if (run.code === 0) expect(place.desk.text('x.csv')).toBe(place.csv())
        if (!killed) expect(place.outputs()).toEqual(['x.csv'])
        place.server.heal()
        expect((await place.downloadByLibrary({ force: true })).code).toBe(0)
        expect(place.desk.text('x.csv')).toBe(place.csv())
        place.expectHealthy()
        await place.stop()
        // The call was never made so often.
        if (run.code === 0 && held.length === ALL_WINDOWS.length + 1 && call !== 'readSync') break
      }
      expect(at).toBeGreaterThan(1)
    },
    600_000,
  )
})

describe.runIf(SOAK > 0)("with users' own times", () => {
  it.concurrent.each([
    ['F08 silence before the headers', silence, /no answer in time|no whole answer/],
    [
      'F08 silence behind the headers',
      raw('HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n'),
      /the body stopped coming|no whole answer/,
    ],
  ] as const)(
    '%s is given up within two minutes',
    async (_, answer, says) => {
      const place = await newPlace()
      place.server.always(FAULTY, answer)
      const started = performance.now()
      const run = await place.downloadByLibrary()
      expect(run.code).toBe(3)
      expect(run.stderr).toMatch(says)
      expect(performance.now() - started).toBeLessThan(125_000)
      expect(place.server.asked(FAULTY).length).toBeLessThanOrEqual(6)
      expect(place.held()).toEqual([...ALL_WINDOWS.filter(path => path !== FAULTY), LIST].sort())
      await place.expectRepair([FAULTY])
    },
    180_000,
  )
})
