import { readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openRun } from '../../src/engine/run.js'
import { sha256 } from '../../src/rows/fingerprint.js'
import { READ_CALLS, type ReadCall, whileReadsFail } from '../support/failing-reads.js'
import { startTestServer } from '../support/servers/test-server.js'
import { FULL_WEEKS, PRESENT, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, useFaultScenarios, WEEK } from './support/fault-scenario.js'
import { rows } from './support/responses.js'

const newScenario = useFaultScenarios()
/** Each call, with the errors of all in turn. */
const FAULTS = READ_CALLS.map((call, index) => [call, ['EMFILE', 'EIO', 'EACCES'][index % 3]] as [ReadCall, string])

/** A mirror with every window, and a service that has lost half of each. */
async function shorterService(): Promise<FaultScenario> {
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  // A final window is read once it was touched.
  utimesSync(join(scenario.mirror, FAULTY), PRESENT / 1000, PRESENT / 1000)
  for (const week of FULL_WEEKS) {
    const path = weekPath('BTCUSDT', week)
    putFile(scenario.tree, path, weekRows(week, { days: 3 }), PRESENT)
    scenario.server.always(path, rows(weekRows(week, { days: 3 })))
  }
  return scenario
}

/** The hashes of all windows of the mirror. */
const contents = ({ mirror }: FaultScenario) =>
  ALL_WINDOWS.map(path => [path, sha256(readFileSync(join(mirror, path)))])

describe('F71 a cached window that cannot be read, while the service has a shorter version,', () => {
  it.each(FAULTS)('%s fails with %s: each command names it, and nothing is replaced', async (call, code) => {
    const scenario = await shorterService()
    const { sandbox, baseUrl } = scenario
    const before = contents(scenario)
    const mirror = ['--mirror', 'm']
    const service = [...mirror, '--base-url', baseUrl]
    for (const args of [
      ['download', 'BTCUSDT', '-i', '15m', ...service],
      ['download', 'BTCUSDT', '-i', '15m', '--refresh', ...service],
      ['export', 'BTCUSDT', '-i', '15m', '-o', 'y.csv', ...mirror],
      ['verify', 'BTCUSDT', '-i', '15m', ...mirror],
    ]) {
      const run = () => sandbox.call([...args, '-q'].filter(arg => arg !== '-q' || args[0] === 'download'))
      const { result, calls } = await whileReadsFail({ call, code, path: FAULTY }, run)
      const name = args.join(' ')
      // Few commands look a file up before they open it.
      if (calls === 0) {
        expect(call, name).toBe('lstatSync')
        for (const output of ['y.csv', 'lake']) rmSync(sandbox.path(output), { recursive: true, force: true })
      } else {
        expect(result, name).toMatchObject({ code: 3, stdout: '' })
        expect(result.stderr, name).toMatch(
          new RegExp(`^klines: Cannot read ${FAULTY} of the mirror m: .*\\(${code}\\)\\.\n`, 'm'),
        )
        expect(result.stderr, name).not.toMatch(/corrupt/i)
      }
      expect(contents(scenario), name).toEqual(before)
      expect(
        scenario.outputs().filter(file => file !== 'x.csv'),
        name,
      ).toEqual([])
    }
  })

  it('is served as an error, never as empty, missing or shorter', async () => {
    const scenario = await shorterService()
    const { mirror, baseUrl } = scenario
    const before = contents(scenario)
    const upstream = () => openRun({ baseUrl, mirror, now: PRESENT })
    for (const options of [{}, { upstream }]) {
      const { request } = await startTestServer(mirror, { now: () => PRESENT, ...options })
      const read = () => request(FAULTY)
      const { result } = await whileReadsFail({ call: 'openSync', code: 'EMFILE', path: FAULTY }, read)
      expect(result.status).toBe(500)
      expect(JSON.parse(String((await request(FAULTY)).body))).toEqual(weekRows(WEEK))
      expect(contents(scenario)).toEqual(before)
    }
  })
})
