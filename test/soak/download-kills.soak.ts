import { expect, it } from 'vitest'
import { seededRandom } from '../faults/support/fault-proxy.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { killLoop } from './support/kill-loop.js'
import { KilledMirror } from './support/killed-mirror.js'
import { SOAK_SOURCES } from './support/soak-server.js'

/** Kills on one mirror before it is repaired and removed. */
const KILLS_PER_MIRROR = 4

it.each(SOAK_SOURCES)(
  'kill -9 during a download (%s) never leaves a torn file, and the next run downloads the rest and removes temp files',
  async source => {
    const mirror = await KilledMirror.make(source)
    const [torn, figures] = [[] as string[], { kills: 0, temps: 0, repairs: 0 }]
    const runs = await killLoop({
      kills: times(200),
      random: seededRandom(1),
      start: () => mirror.download(),
      left: mirror.left,
      hasBegun: mirror.hasBegun,
      inspect: async (killed, run) => {
        const survey = mirror.survey()
        torn.push(...survey.torn)
        if (killed) {
          figures.kills++
          if (survey.temps.length > 0) figures.temps++
        } else expect(run).toMatchObject({ code: 0, stderr: '' })
        if (killed && figures.kills % KILLS_PER_MIRROR > 0) return
        figures.repairs++
        await mirror.expectRepair()
        mirror.clear()
      },
    })
    await mirror.expectRepair()
    printFigures(`kill -9 in downloads, ${source}`, { klines: { ...figures, runs, torn: torn.length } })
    expect(torn).toEqual([])
  },
)

it('the same loop detects the torn files of a careless writer', async () => {
  const mirror = await KilledMirror.make()
  const [torn, figures] = [[] as string[], { kills: 0 }]
  const runs = await killLoop({
    kills: Math.max(10, times(50)),
    random: seededRandom(2),
    start: () => mirror.naiveDownload(),
    hasBegun: mirror.hasBegun,
    inspect: killed => {
      torn.push(...mirror.survey().torn)
      if (killed) figures.kills++
      mirror.clear()
    },
  })
  printFigures('kill -9 in downloads, control', { 'naive writer': { ...figures, runs, torn: torn.length } })
  expect(torn).not.toEqual([])
})
