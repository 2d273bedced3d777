import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { cases, FULL, oneOf } from '../support/full.js'
import { SOAK } from '../support/soak.js'
import { SeveralOutputs } from './support/several-outputs.js'

const newSandbox = useSandboxes()
/** Every call only when KLINES_SOAK is set, because a run takes a third of a second; the first one is another one in each run. */
const STEP = SOAK > 0 ? 1 : cases(3, 6)
const FIRST = FULL || SOAK > 0 ? 1 : 1 + Math.floor(3 * Math.random())
/** A bound for the loops: no run makes this many calls of one kind. */
const MOST_CALLS = 60
/** Every second output exists. */
const HALF = SeveralOutputs.paths.filter((_, index) => index % 2 === 0)
const LIMIT_MS = 300_000
const NO_LINKS: FailingCall = { call: 'promises.link', code: 'EPERM' }

const figures = { failedRuns: 0, reported: 0, kills: 0, mixedAfterKill: 0 }
afterAll(() => {
  if (SOAK > 0) console.log('F61', figures)
})

/** What a failed run reports as not as before. */
function notRestored({ stdout }: Run): { path: string; backup?: string }[] {
  return JSON.parse(stdout).error.data?.notRestored ?? []
}

const warningsOf = ({ stdout }: Run): string[] => JSON.parse(stdout).warnings

describe('F61 a call that fails while eight files are put in place', () => {
  const once = { code: 'EIO', times: 1 }
  const lasting = { code: 'EIO' }
  it.each(
    oneOf<[string, string, FailingCall[]]>(3, [
      ['a link fails', 'promises.link', [{ call: 'promises.link', ...once }]],
      ['all links from one on fail', 'promises.link', [{ call: 'promises.link', ...lasting }]],
      ['a rename fails', 'promises.rename', [{ call: 'promises.rename', ...once }]],
      ['all renames from one on fail', 'promises.rename', [{ call: 'promises.rename', ...lasting }]],
      ['a rename fails where there are no links', 'promises.rename', [NO_LINKS, { call: 'promises.rename', ...once }]],
      [
        'all renames from one on fail where there are no links',
        'promises.rename',
        [NO_LINKS, { call: 'promises.rename', ...lasting }],
      ],
      [
        'a link fails, and no file can be put back',
        'promises.link',
        [
          { call: 'promises.link', ...once },
          { call: 'promises.unlink', ...lasting },
        ],
      ],
    ]),
  )(
    '%s: all files are as before, or the error names those that are not',
    async (_, call, faults) => {
      const outputs = SeveralOutputs.create(newSandbox(), HALF)
      let failed = 0
      for (let at = FIRST; at <= MOST_CALLS; at += STEP) {
        outputs.restore()
        const run = await outputs.run(
          faults.map(fault => (fault.call === call && fault !== NO_LINKS ? { ...fault, at } : fault)),
          { force: true },
        )
        if (run.code === 0) break
        failed++
        figures.failedRuns++
        const where = `${call} ${at}: ${run.stdout}`
        expect(run, where).toMatchObject({ code: 1, signal: null, stderr: '' })
        const named = notRestored(run)
        expect(named.map(({ path }) => path).sort(), where).toEqual(outputs.changed())
        if (named.length > 0) figures.reported++
        const { message } = JSON.parse(run.stdout).error
        expect(message, where).toMatch(
          /^Cannot write out\/\S+\.csv: input\/output error \(EIO\)\. All files are as they/,
        )
        for (const { path } of named) expect(message).toContain(path)
        for (const { path, backup = '' } of named)
          if (HALF.includes(path)) expect(readFileSync(backup, 'utf8')).toBe('what was there before\n')
        const kept = named.flatMap(({ backup }) => backup ?? [])
        const canRemove = !faults.some(fault => fault.call === 'promises.unlink')
        const left = outputs.leftovers().filter(path => canRemove || !path.endsWith('.bak'))
        expect(left.map(path => outputs.sandbox.path(path)).sort(), where).toEqual(kept.sort())
      }
      expect(failed).toBeGreaterThan(0)
      expect(outputs.states()).toEqual(SeveralOutputs.paths.map(() => 'new'))
    },
    LIMIT_MS,
  )

  it('a temp file or an old one that cannot be removed after that is removed by the next run, without a word', async () => {
    const outputs = SeveralOutputs.create(newSandbox(), HALF)
    const run = await outputs.runAlone([{ call: 'promises.unlink', code: 'EIO' }], { force: true })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(outputs.states()).toEqual(SeveralOutputs.paths.map(() => 'new'))
    expect(outputs.leftovers()).not.toEqual([])
    const again = await outputs.runAgain({ force: true })
    expect([again.code, warningsOf(again)]).toEqual([0, []])
    expect(outputs.leftovers()).toEqual([])
  })
})

describe('F61 kill -9 while eight files are put in place', () => {
  it.each(
    oneOf<[string, readonly string[], boolean]>(3, [
      ['promises.link', HALF, true],
      ['promises.rename', HALF, true],
      ['promises.unlink', HALF, true],
      ['promises.link', [], false],
      ['promises.unlink', [], false],
      ['promises.link', SeveralOutputs.paths, true],
    ]),
  )(
    'at %s, with %j there before: the next run names the files that were in place, and puts the old ones back',
    async (call, existing, force) => {
      const outputs = SeveralOutputs.create(newSandbox(), existing)
      let kills = 0
      let mixed = 0
      for (let at = FIRST; at <= MOST_CALLS; at += STEP) {
        outputs.restore()
        const run = await outputs.runAlone([{ call, code: 'SIGKILL', at }], { force })
        if (run.signal !== 'SIGKILL') break
        kills++
        figures.kills++
        const where = `${call} ${at}`
        const [states, changed] = [outputs.states(), outputs.changed()]
        expect(states, where).not.toContain('other')
        const isMixed = changed.length > 0 && changed.length < SeveralOutputs.paths.length
        if (isMixed) mixed++
        if (isMixed) figures.mixedAfterKill++
        // Without --force a run leaves files that are there, so that this shows what it repaired.
        const next = await outputs.runAgain({ force: false })
        const warnings = warningsOf(next)
        expect(warnings, where).toHaveLength(isMixed ? 1 : 0)
        for (const path of SeveralOutputs.paths)
          expect(warnings.join().includes(path), `${where}: ${path} in ${warnings}`).toBe(
            isMixed && changed.includes(path),
          )
        const isFree = existing.length === 0 && changed.length < SeveralOutputs.paths.length
        expect(next.code, where).toBe(isFree ? 0 : 2)
        const expected = isFree ? SeveralOutputs.paths.map(() => 'new') : isMixed ? outputs.statesBefore() : states
        expect(outputs.states(), where).toEqual(expected)
        expect(outputs.leftovers(), where).toEqual([])
        const last = await outputs.runAgain({ force: true })
        expect([last.code, warningsOf(last)], where).toEqual([0, []])
        expect(outputs.states(), where).toEqual(SeveralOutputs.paths.map(() => 'new'))
      }
      expect(kills).toBeGreaterThan(0)
      if (call === 'promises.link') expect(mixed).toBeGreaterThan(0)
    },
    LIMIT_MS,
  )

  it(
    'where there are no links, the next run names each old file that it finds beside a new one',
    async () => {
      const outputs = SeveralOutputs.create(newSandbox(), HALF)
      for (let at = FIRST; at <= MOST_CALLS; at += STEP) {
        outputs.restore()
        const run = await outputs.runAlone([NO_LINKS, { call: 'promises.rename', code: 'SIGKILL', at }], {
          force: true,
        })
        if (run.signal !== 'SIGKILL') break
        const states = outputs.states()
        const next = await outputs.runAgain({ force: false })
        expect(next.code).toBe(2)
        const [text, kept] = [warningsOf(next).join(), outputs.leftovers()]
        for (const [index, path] of SeveralOutputs.paths.entries()) {
          const isReplaced = HALF.includes(path) && states[index] === 'new'
          const isGone = HALF.includes(path) && states[index] === 'absent'
          expect(text.includes(path), `rename ${at}: ${path} in ${text}`).toBe(isReplaced || isGone)
          if (isGone) expect(outputs.states()[index]).toBe('old')
        }
        expect(kept.every(name => name.endsWith('.bak'))).toBe(true)
        expect(kept).toHaveLength(HALF.filter(path => states[SeveralOutputs.paths.indexOf(path)] === 'new').length)
      }
    },
    LIMIT_MS,
  )
})
