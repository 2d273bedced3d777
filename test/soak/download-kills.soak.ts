import { expect, it } from 'vitest'
import { randomOf } from '../faults/support/fault-proxy.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { killLoop } from './support/kill-loop.js'
import { KilledMirror } from './support/killed-mirror.js'

/** Kills on one mirror before it is repaired and begun anew. */
const KILLS_A_MIRROR = 4

it('kill -9 during a download never leaves a torn file, and the next run brings the rest and sweeps', async () => {
  const place = await KilledMirror.make()
  const [torn, figures] = [[] as string[], { kills: 0, temps: 0, repairs: 0 }]
  const runs = await killLoop({
    kills: times(200),
    random: randomOf(1),
    start: () => place.download(),
    left: place.left,
    hasBegun: place.hasBegun,
    inspect: async (killed, run) => {
      const found = place.survey()
      torn.push(...found.torn)
      if (killed) {
        figures.kills++
        if (found.temps.length > 0) figures.temps++
      } else expect(run).toMatchObject({ code: 0, stderr: '' })
      if (killed && figures.kills % KILLS_A_MIRROR > 0) return
      figures.repairs++
      await place.expectRepair()
      place.clear()
    },
  })
  await place.expectRepair()
  printFigures('kill -9 in downloads', { klines: { ...figures, runs, torn: torn.length } })
  expect(torn).toEqual([])
})

it('the same loop finds the torn files of a writer that is not careful', async () => {
  const place = await KilledMirror.make()
  const [torn, figures] = [[] as string[], { kills: 0 }]
  const runs = await killLoop({
    kills: Math.max(10, times(50)),
    random: randomOf(2),
    start: () => place.naiveDownload(),
    hasBegun: place.hasBegun,
    inspect: killed => {
      torn.push(...place.survey().torn)
      if (killed) figures.kills++
      place.clear()
    },
  })
  printFigures('kill -9 in downloads, control', { 'naive writer': { ...figures, runs, torn: torn.length } })
  expect(torn).not.toEqual([])
})
