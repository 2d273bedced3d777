import { formatDate, windowSpan } from '../../../src/candles/windows.js'
import type { CliSandbox, Run } from '../cli/cli-sandbox.js'
import { Random } from '../random.js'
import { type Damage, DamagedMirror } from './damaged-mirror.js'
import type { DamageKind, Floor } from './damages.js'
import type { SoundMirror } from './sound-mirror.js'

/** The questions in whose columns the rates stand. */
export const QUESTIONS = ['all', 'series', 'range'] as const
export type Question = (typeof QUESTIONS)[number]

/** What a question says about a damage; a gap is exit code 0. */
export type Answer = 'found' | 'gap' | 'nothing'

const ALL = ['all', '-i', 'all']

/** The arguments of a question about a damaged mirror. */
function argsOf(question: Question, { symbol, interval, startDate }: Damage, { from }: SoundMirror): string[] {
  if (question === 'all') return ['verify', ...ALL]
  if (question === 'series') return ['verify', symbol, '-i', interval]
  const { endTime } = windowSpan({ interval, startDate })
  return ['verify', ...ALL, '--from', startDate > from ? startDate : from, '--to', formatDate(endTime)]
}

/** What a run says beside figures that damage without a finding changes, too. */
function countGaps({ stdout }: Run): number {
  const [verdict] = stdout.split('\n')
  return Number(/ (\d+) gaps?\b/.exec(verdict)?.[1] ?? 0) + Number(/ (\d+) outages?\b/.exec(verdict)?.[1] ?? 0)
}

/** A damage, and what the questions say about it; undefined: not asked. */
export interface Detection {
  readonly damage: Damage
  readonly answers: Readonly<Record<Question, Answer | undefined>>
}

/** Damages a copy of a sound mirror at a place that follows from the seed, and asks. */
export async function detect(
  kind: DamageKind,
  seed: number,
  sound: SoundMirror,
  sandbox: CliSandbox,
  questions: readonly Question[] = QUESTIONS,
): Promise<Detection> {
  const mirror = new DamagedMirror(sandbox.path('damaged'), sound, new Random(seed))
  const damage = kind.apply(mirror)
  const answers: Record<Question, Answer | undefined> = {
    all: undefined,
    series: undefined,
    range: undefined,
  }
  for (const question of questions) {
    const args = argsOf(question, damage, sound)
    const run = await sandbox.call([...args, '--mirror', mirror.root])
    const before = await askSound(args, sound, sandbox)
    answers[question] = run.code !== 0 ? 'found' : countGaps(run) > countGaps(before) ? 'gap' : 'nothing'
  }
  return { damage, answers }
}

/** What was said about the sound mirror. */
const known = new Map<string, Run>()

/** Asks the same of the sound mirror, in which nothing may be found. */
async function askSound(args: readonly string[], { root }: SoundMirror, sandbox: CliSandbox): Promise<Run> {
  const all = [...args, '--mirror', root]
  const run = known.get(all.join(' ')) ?? (await sandbox.call(all))
  known.set(all.join(' '), run)
  if (run.code !== 0) throw new Error(`klines ${all.join(' ')} of the sound mirror: ${run.stdout}${run.stderr}`)
  return run
}

/** Whether an answer is what a kind of damage has to get, at least. */
export function meets(floor: Floor, answer: Answer | undefined, { isVisible }: Damage): boolean {
  if (answer === undefined || floor === 'chance' || (floor === 'visible' && !isVisible)) return true
  return answer === 'found' || (floor === 'gap' && answer === 'gap')
}
