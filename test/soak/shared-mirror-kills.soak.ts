import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { seededRandom } from '../faults/support/fault-proxy.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { killGroup, measure, waitUntilBegun } from './support/kill-loop.js'
import { KilledMirror } from './support/killed-mirror.js'
import { SOAK_SOURCES } from './support/soak-server.js'

/** Pairs of runs between two repairs. */
const PAIRS_PER_REPAIR = 10

it.each(SOAK_SOURCES)(
  'two downloads (%s) into one mirror, one or both killed: nothing is torn, and a survivor downloads everything',
  async source => {
    const mirror = await KilledMirror.make(source)
    const random = seededRandom(30)
    const pace = await measure(mirror.download(), mirror.hasBegun)
    const [torn, figures] = [[] as string[], { pairs: 0, kills: 0, survivors: 0, repairs: 0 }]
    for (const pairs = times(50); figures.pairs < pairs; figures.pairs++) {
      mirror.clear()
      const first = mirror.download()
      // So that one removes temp files while the other writes.
      await sleep(random() * pace.beginMs)
      const running = [first, mirror.download()]
      const doomed = random() < 1 / 3 ? running : [running[Math.floor(2 * random())]]
      await waitUntilBegun(first, mirror.hasBegun)
      const kills = doomed.map(async run => {
        await sleep(random() * pace.writeMs)
        killGroup(run)
      })
      await Promise.all(kills)
      const runs = await Promise.all(running.map(({ ended }) => ended))
      const survey = mirror.survey()
      torn.push(...survey.torn)
      for (const run of runs) {
        if (run.signal === 'SIGKILL') figures.kills++
        else {
          figures.survivors++
          expect(run).toMatchObject({ code: 0, stderr: '' })
          expect(survey.whole).toHaveLength(mirror.files)
        }
      }
      if (figures.pairs % PAIRS_PER_REPAIR === 0) {
        figures.repairs++
        await mirror.expectRepair()
      }
    }
    printFigures(`kill -9 of one or both of two downloads, ${source}`, { klines: { ...figures, torn: torn.length } })
    expect(torn).toEqual([])
  },
)
