import { expect, it } from 'vitest'
import { seededRandom } from '../faults/support/fault-proxy.js'
import { tempFolder } from '../support/temp-folder.js'
import { times } from './support/factor.js'
import { printFigures } from './support/figures.js'
import { killLoop } from './support/kill-loop.js'
import { KilledOutput, OUTPUTS } from './support/killed-output.js'
import { soakTree } from './support/soak-tree.js'

/** Kills between two runs that may finish. */
const KILLS_PER_REPAIR = 8

it('kill -9 during an export leaves the old file or the complete new one, and the next run removes temp files', async () => {
  const tree = tempFolder()
  soakTree(tree)
  const rows: Record<string, Record<string, number>> = {}
  const torn: string[] = []
  for (const [index, output] of OUTPUTS.entries()) {
    const target = await KilledOutput.make(tree, output)
    const figures = { kills: 0, temps: 0, repairs: 0, runs: 0, torn: 0 }
    figures.runs = await killLoop({
      kills: Math.ceil(times(200) / OUTPUTS.length),
      random: seededRandom(10 + index),
      start: () => target.export(),
      hasBegun: target.hasBegun,
      inspect: async (killed, run) => {
        const survey = target.survey()
        figures.torn += survey.torn.length
        torn.push(...survey.torn)
        if (killed) {
          figures.kills++
          if (survey.temps.length > 0) figures.temps++
        } else expect(run).toMatchObject({ code: 0, stderr: '' })
        if (killed && figures.kills % KILLS_PER_REPAIR === 0) {
          figures.repairs++
          await target.expectRepair()
        }
        target.restore()
      },
    })
    await target.expectRepair()
    rows[output] = figures
  }
  printFigures('kill -9 in exports', rows)
  expect(torn).toEqual([])
})

it('the same loop detects the torn file of a careless writer', async () => {
  const tree = tempFolder()
  soakTree(tree)
  const target = await KilledOutput.make(tree, OUTPUTS[0])
  const [torn, figures] = [[] as string[], { kills: 0 }]
  const runs = await killLoop({
    kills: Math.max(10, times(50)),
    random: seededRandom(20),
    start: () => target.naiveExport(),
    hasBegun: target.isTouched,
    inspect: killed => {
      torn.push(...target.survey().torn)
      if (killed) figures.kills++
      target.restore()
    },
  })
  printFigures('kill -9 in exports, control', { 'naive writer': { ...figures, runs, torn: torn.length } })
  expect(torn).not.toEqual([])
})
