import { parseArgs } from 'node:util'
import type { Row } from './row.js'
import { SECTIONS } from './sections.js'

const USAGE = `usage: npm run bench -- [--quick | --headline] [--json FILE] [SECTION...]
  sections: ${Object.keys(SECTIONS).join(' ')}; default: all
  --headline  the rows of src/docs/reliability.md in three runs, beside the peers with a target
  --quick     the same in one round`
const DEFAULT_ROUNDS = 5
const HEADLINE_RUNS = 3

/** Which rows are measured, and how often. */
export interface Mode {
  /** How often each contender of a row is run. */
  readonly rounds: number
  /** How often that is repeated. */
  readonly runs: number
  /** Whether only the rows of src/docs/reliability.md are measured, beside the peers that a target names. */
  readonly headlineOnly: boolean
}

/** What the command line asks for: the mode, the names of the sections, the file for JSON. Throws when it is not valid. */
export function parseCommandLine(): { mode: Mode; sections: readonly string[]; json: string | undefined } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'string' }, quick: { type: 'boolean' }, headline: { type: 'boolean' } },
  })
  const { quick = false, headline = false, json } = values
  const sections = positionals.length > 0 ? positionals : Object.keys(SECTIONS)
  const rounds = quick ? 1 : Number(process.env.KLINES_BENCH_ROUNDS || DEFAULT_ROUNDS)
  const isValid = sections.every(name => name in SECTIONS) && Number.isInteger(rounds) && rounds > 0
  if (!isValid || (quick && headline)) throw new Error(USAGE)
  const mode = { rounds, runs: headline ? HEADLINE_RUNS : 1, headlineOnly: quick || headline }
  return { mode, sections, json }
}

/** The row with the peers that one of its targets names. */
export function withoutUntargeted(row: Row): Row {
  const [ours, ...peers] = row.contenders
  return { ...row, contenders: [ours, ...peers.filter(({ name }) => row.targets.some(({ peer }) => peer === name))] }
}
