import { expect, it } from 'vitest'
import { CliSandbox } from '../support/cli/cli-sandbox.js'
import { DAMAGES, type DamageKind, FINEST_DIGITS } from '../support/damage/damages.js'
import { type Detection, detect, meets, QUESTIONS } from '../support/damage/questions.js'
import { LARGE, makeSoundMirror, TREE_KINDS } from '../support/damage/sound-mirror.js'
import { tempFolder } from '../support/temp-folder.js'
import { times } from './support/factor.js'

/** How often each kind is applied to the mirror of a service. */
const CASES = { static: times(14), exchange: times(10) }
const COLUMNS = {
  all: '`verify all -i all`',
  series: '`verify` of that series',
  range: '`verify` with the window as range',
}

it('every kind of damage is found where the record, another interval or the file itself tells', async () => {
  await expectRates('kind of damage', DAMAGES)
})

it('one unit of the last digit of the finest interval is found where it changes a longer candle', async () => {
  await expectRates('of the finest interval, one unit of the last digit', FINEST_DIGITS)
})

/** Damages random places, prints how many were found, and fails if one was not that had to be. */
async function expectRates(title: string, kinds: readonly DamageKind[]): Promise<void> {
  const rows = new Map<string, Detection[]>()
  const missed: object[] = []
  for (const tree of TREE_KINDS) {
    const sandbox = new CliSandbox(tempFolder())
    const sound = await makeSoundMirror(tree, sandbox, LARGE)
    for (const kind of kinds) {
      for (let seed = 1; seed <= CASES[tree]; seed++) {
        const detection = await detect(kind, seed, sound, sandbox)
        rows.set(kind.row, [...(rows.get(kind.row) ?? []), detection])
        for (const question of QUESTIONS) {
          if (meets(kind.floors[question], detection.answers[question], detection.damage)) continue
          missed.push({ kind: kind.name, tree, seed, question, ...detection })
        }
      }
    }
  }
  const head = [`| ${title} | ${Object.values(COLUMNS).join(' | ')} |`, '|---|---|---|---|---|']
  const lines = [...rows].map(([row, detections]) => `| ${[row, ...QUESTIONS.map(rate(detections))].join(' | ')} |`)
  console.log([...head, ...lines].join('\n'))
  expect(missed).toEqual([])
}

/** `20/24`, with the number of cases that a gap tells. */
function rate(detections: readonly Detection[]) {
  return (question: (typeof QUESTIONS)[number]) => {
    const answers = detections.flatMap(({ answers }) => answers[question] ?? [])
    const count = (wanted: string) => answers.filter(answer => answer === wanted).length
    const gaps = count('gap') > 0 ? ` (gap ${count('gap')})` : ''
    return answers.length === 0 ? '-' : `${count('found')}/${answers.length}${gaps}`
  }
}
