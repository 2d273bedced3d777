import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { seededRandom } from '../faults/support/fault-proxy.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { begun, killGroup, measure } from './support/kill-loop.js'
import { KilledMirror } from './support/killed-mirror.js'

/** Pairs of runs between two that are left alone. */
const PAIRS_A_REPAIR = 10

it('two downloads into one mirror, one or both killed: nothing is torn, and the one that lives brings all', async () => {
  const mirror = await KilledMirror.make()
  const random = seededRandom(30)
  const pace = await measure(mirror.download(), mirror.hasBegun)
  const [torn, figures] = [[] as string[], { pairs: 0, kills: 0, survivors: 0, repairs: 0 }]
  for (const pairs = times(50); figures.pairs < pairs; figures.pairs++) {
    mirror.clear()
    const first = mirror.download()
    // So that one sweeps while the other one writes.
    await sleep(random() * pace.beginMs)
    const running = [first, mirror.download()]
    const doomed = random() < 1 / 3 ? running : [running[Math.floor(2 * random())]]
    await begun(first, mirror.hasBegun)
    const kills = doomed.map(async one => {
      await sleep(random() * pace.writeMs)
      killGroup(one)
    })
    await Promise.all(kills)
    const runs = await Promise.all(running.map(({ ended }) => ended))
    const found = mirror.survey()
    torn.push(...found.torn)
    for (const run of runs) {
      if (run.signal === 'SIGKILL') figures.kills++
      else {
        figures.survivors++
        expect(run).toMatchObject({ code: 0, stderr: '' })
        expect(found.whole).toHaveLength(mirror.files)
      }
    }
    if (figures.pairs % PAIRS_A_REPAIR === 0) {
      figures.repairs++
      await mirror.expectRepair()
    }
  }
  printFigures('kill -9 of one or both of two downloads', { klines: { ...figures, torn: torn.length } })
  expect(torn).toEqual([])
})
