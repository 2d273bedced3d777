import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deferred, until } from '../support/deferred.js'
import { startServe } from '../support/servers/serve-command.js'
import { FULL_WEEKS, putFile, RENDERED, weekPath, weekRows } from '../support/synthetic-tree.js'
import { reply } from './support/answers.js'
import { ALL_WINDOWS, FAULTY, LIST, OPEN_WINDOWS, type Place, usePlaces } from './support/fault-scenario.js'
import { type FaultAnswer, healthy } from './support/fault-server.js'

const newPlace = usePlaces()

/** The healthy answer, once somebody says so. */
function gated(): { answer: FaultAnswer; open: () => void } {
  const gate = deferred()
  const answer: FaultAnswer = async exchange => {
    await gate.promise
    healthy(exchange)
  }
  return { answer, open: () => gate.resolve() }
}

describe('F49 processes that share a mirror', () => {
  it.concurrent.each([2, 4])('%d at the same time all end right, and ask for no window twice each', async count => {
    const place = await newPlace()
    const { answer, open } = gated()
    place.server.always(LIST, answer)
    const outputs = Array.from({ length: count }, (_, index) => `x${index}.csv`)
    const started = outputs.map(output => place.start([...place.args(['-q']).slice(0, -2), output, '-q']))
    await until(() => place.server.asked(LIST).length === count, 40_000)
    open()
    for (const { running } of started) expect(await running.ended).toMatchObject({ code: 0, stderr: '', stdout: '' })
    for (const output of outputs) expect(place.desk.text(output)).toBe(place.csv())
    for (const path of ALL_WINDOWS) expect(place.server.asked(path).length).toBeLessThanOrEqual(count)
    expect(place.held()).toEqual([...ALL_WINDOWS, LIST].sort())
    await place.expectRepair()
  })
})

/** Two versions of the file of a week: all rows are of one or all of the other. */
const SEEDS = [0, 5] as const
const weekOf = (seed: number) => Buffer.from(JSON.stringify(weekRows(FULL_WEEKS[2], { seed })))

/** Runs `--refresh` downloads over a service that changes its mind about a week until `done`, at most 12 times. */
async function churn(place: Place, done: () => boolean): Promise<void> {
  for (let round = 1; round <= 12 && !done(); round++) {
    putFile(place.tree, FAULTY, weekOf(SEEDS[round % 2]), RENDERED + 1_000 * round)
    expect((await place.downloadByLibrary({ force: true, refresh: true })).code).toBe(0)
  }
}

describe('F50 while a download replaces files', () => {
  it.concurrent('a server gives one version or the other, whole', async () => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    const server = await startServe(place.desk, ['--mirror', 'm'])
    const versions = SEEDS.map(seed => String(weekOf(seed)))
    const seen = new Set<number>()
    let over = false
    const reading = (async () => {
      for (let reads = 0; reads < 5_000 && !over; reads++) {
        const answer = await fetch(`${server.url}/${FAULTY}`)
        expect(answer.status).toBe(200)
        const version = versions.indexOf(await answer.text())
        expect(version, 'a version of the file').not.toBe(-1)
        seen.add(version)
      }
    })()
    await churn(place, () => false)
    over = true
    await reading
    expect([...seen].sort()).toEqual([0, 1])
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
    place.expectHealthy()
  })

  it.concurrent('an export has each week from one version or the other, whole', async () => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    const csvOf = (seed: number) => weekRows(FULL_WEEKS[2], { seed }).map(row => row.join(','))
    const versions = SEEDS.map(seed => csvOf(seed).join('\n'))
    let over = false
    const churning = churn(place, () => over)
    const days = ['--from', FULL_WEEKS[2], '--to', FULL_WEEKS[3], '--mirror', 'm', '-q', '--force']
    for (let time = 0; time < 4; time++) {
      const run = await place.run(['export', 'BTCUSDT', '-i', '15m', ...days, '-o', 'y.csv'])
      expect(run).toMatchObject({ code: 0, stderr: '' })
      const [, ...rows] = place.desk.text('y.csv').trimEnd().split('\n')
      expect(versions).toContain(rows.join('\n'))
    }
    over = true
    await churning
  })
})

describe('F51 while a download runs, its mirror is cleared', () => {
  it.concurrent('in the middle: the run ends right, the export is whole, and the next run has the rest', async () => {
    const place = await newPlace()
    const { answer, open } = gated()
    place.server.script(FAULTY, answer)
    const { running } = place.start(place.args(['--concurrency', '1', '-q']))
    await until(() => place.server.asked(FAULTY).length === 1, 40_000)
    const clear = await place.run(['mirror', 'clear', '--mirror', 'm', '--force'])
    expect(clear).toMatchObject({ code: 0, stderr: '' })
    expect(place.held()).toEqual([])
    open()
    expect(await running.ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(place.desk.text('x.csv')).toBe(place.csv())
    const held = place.held()
    await place.expectRepair([...ALL_WINDOWS.filter(path => !held.includes(path)), ...OPEN_WINDOWS])
  })

  it.concurrent('over and over: no file is torn, whatever stands at the end', async () => {
    const place = await newPlace()
    let running = true
    const clearing = (async () => {
      for (let time = 0; time < 8 && running; time++) {
        const clear = await place.run(['mirror', 'clear', '--mirror', 'm', '--force'])
        // There may be none at the moment.
        expect([0, 3]).toContain(clear.code)
      }
    })()
    for (let time = 0; time < 3; time++) {
      const run = await place.download({ args: ['--force', '-q'] })
      expect(run).toMatchObject({ code: 0, stderr: '' })
      expect(place.desk.text('x.csv')).toBe(place.csv())
    }
    running = false
    await clearing
    const held = place.held()
    expect(held.every(name => readFileSync(join(place.tree, name)).length > 0)).toBe(true)
    await place.expectRepair(ALL_WINDOWS.filter(path => !held.includes(path)))
  })
})

it.concurrent('F49 one that is told to stop does not stop the other', async () => {
  const place = await newPlace()
  const { answer, open } = gated()
  place.server.script(weekPath('BTCUSDT', FULL_WEEKS[0]), reply('404 X', [], ''), answer)
  const first = place.start([...place.args().slice(0, -1), 'a.csv'])
  expect((await first.running.ended).code).toBe(3)
  const second = place.start([...place.args().slice(0, -1), 'b.csv'])
  open()
  expect((await second.running.ended).code).toBe(0)
  expect(place.desk.text('b.csv')).toBe(place.csv())
  expect(place.outputs()).toEqual(['b.csv'])
})
