import { describe, expect, it } from 'vitest'
import { type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { SOAK } from '../support/soak.js'
import { SeveralOutputs } from './support/several-outputs.js'

const newSandbox = useSandboxes()
/** Every call only when KLINES_SOAK is set. */
const STEP = SOAK > 0 ? 1 : 2
/** A bound for the loops: no run makes this many calls of one kind. */
const MOST_CALLS = 60
/** Every second output exists. */
const HALF = SeveralOutputs.paths.filter((_, index) => index % 2 === 0)
const LIMIT_MS = 300_000

/** What a failed run reports as new. */
function placed({ stdout }: Run): string[] {
  return JSON.parse(stdout).error.data?.placed ?? []
}

/** Runs that fail at one call after the other, until one succeeds. */
async function failAtEach(
  fault: Omit<FailingCall, 'code'>,
  check: (outputs: SeveralOutputs, run: Run, where: string) => void,
) {
  const outputs = SeveralOutputs.create(newSandbox(), HALF)
  let failed = 0
  for (let at = 1; at <= MOST_CALLS; at += STEP) {
    outputs.restore()
    const run = await outputs.run([{ code: 'EIO', ...fault, at }], { force: true })
    if (run.code === 0) break
    failed++
    const where = `${fault.call} ${at}: ${run.stdout}`
    expect(run, where).toMatchObject({ code: 1, signal: null, stderr: '' })
    check(outputs, run, where)
    expect(outputs.leftovers(), where).toEqual([])
  }
  expect(failed).toBeGreaterThan(0)
  expect(outputs.states()).toEqual(SeveralOutputs.paths.map(() => 'new'))
}

describe('F61 a call that fails while four files are written', () => {
  it.each(['handle.write', 'handle.sync'])(
    '%s: before the first rename all files are as before',
    async call => {
      await failAtEach({ call, path: '.tmp' }, (outputs, run, where) => {
        expect(placed(run), where).toEqual([])
        expect(outputs.changed(), where).toEqual([])
      })
    },
    LIMIT_MS,
  )

  it(
    'promises.rename: the error names the files that are new',
    async () => {
      await failAtEach({ call: 'promises.rename' }, (outputs, run, where) => {
        expect(placed(run).toSorted(), where).toEqual(outputs.changed())
        const { message } = JSON.parse(run.stdout).error
        expect(message, where).toMatch(/^Cannot write out\/\S+\.csv: input\/output error \(EIO\)\./)
        for (const path of placed(run)) expect(message).toContain(path)
      })
    },
    LIMIT_MS,
  )
})

it.each(['handle.sync', 'promises.rename'])(
  'F61 kill -9 at %s with half of them there: each file is the old or the new one, and the next run leaves nothing else',
  async call => {
    const outputs = SeveralOutputs.create(newSandbox(), HALF)
    for (const at of SOAK > 0 ? [1, 2, 3, 4] : [3]) {
      outputs.restore()
      const run = await outputs.runAlone([{ call, code: 'SIGKILL', at }], { force: true })
      expect(run.signal).toBe('SIGKILL')
      const where = `${call} ${at}`
      expect(outputs.states(), where).not.toContain('other')
      if (call !== 'promises.rename') expect(outputs.changed(), where).toEqual([])
      expect(await outputs.runAgain({ force: true }), where).toMatchObject({ code: 0, stderr: '' })
      expect(outputs.states(), where).toEqual(SeveralOutputs.paths.map(() => 'new'))
      expect(outputs.leftovers(), where).toEqual([])
    }
  },
  LIMIT_MS,
)
