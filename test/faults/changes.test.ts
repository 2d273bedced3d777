import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { FULL_WEEKS, makeTree, putFile, RENDERED, type Row, weekPath, weekRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { expectPlainText } from './support/fault-case.js'

const newSandbox = useSandboxes()
const [WEEK] = FULL_WEEKS
const WINDOW = weekPath('BTCUSDT', WEEK)
const CHANGED = weekRows(WEEK).with(1, weekRows(WEEK)[1].with(4, '1.00000000') as Row)

/** A mirror of a service that has changed a candle since. */
async function setUp(): Promise<{ sandbox: CliSandbox; args: string[]; mirror: string; tree: string }> {
  const tree = makeTree(tempFolder())
  const sandbox = newSandbox()
  const { url } = await startTreeServer(sandbox, tree)
  const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', url, '--mirror', 'm', '--to', FULL_WEEKS[1]]
  expect(await sandbox.call(args)).toMatchObject({ code: 0 })
  putFile(tree, WINDOW, CHANGED, RENDERED + 86_400_000)
  return { sandbox, args: [...args, '--refresh'], mirror: sandbox.path('m'), tree }
}
const rows = (sandbox: CliSandbox) => JSON.parse(sandbox.text(`m/${WINDOW}`))
/** The values of the recorded changes. */
const afters = (mirror: string) => {
  const path = join(mirror, 'changes.jsonl')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  return lines.map(line => JSON.parse(line).after)
}

it('F47 the changes of a window cannot be recorded: a warning, and the window is stored', async () => {
  const { sandbox, args } = await setUp()
  const fault = { call: 'appendFileSync', at: 1, path: 'm/changes.jsonl', code: 'ENOSPC' }
  const run = await sandbox.call(args, {}, { faults: [fault] })
  expect(run.code, run.stderr).toBe(0)
  expect(run.stderr).toMatch(/^Note: Cannot write changes\.jsonl of the mirror m: the disk is full.* not kept there\./)
  expect(run.stdout).toContain(' close ')
  expectPlainText(run.stderr)
  expect(rows(sandbox)).toEqual(CHANGED)
})

it('F42 F47 a window that cannot be replaced is named and stays whole, and no change is recorded; the next run replaces it', async () => {
  const { sandbox, args, mirror } = await setUp()
  const fault: FailingCall = { call: 'renameSync', at: 3, path: 'm/.klines-tmp', code: 'EIO' }
  for (let run = 0; run < 2; run++) {
    const { code, stderr } = await sandbox.call(args, {}, { faults: [fault] })
    expect(code).toBe(3)
    expect(stderr).toContain(`Cannot write ${WINDOW} of the mirror m: input/output error (EIO).`)
    expect(rows(sandbox)).toEqual(weekRows(WEEK))
    expect(afters(mirror)).toEqual([])
  }
  expect(await sandbox.call(args)).toMatchObject({ code: 0 })
  expect(rows(sandbox)).toEqual(CHANGED)
  expect(afters(mirror)).toEqual(['1.00000000'])
})

it.each<[string, FailingCall]>([
  ['before it replaces the window', { call: 'renameSync', at: 3, path: 'm/.klines-tmp', code: 'SIGKILL' }],
  ['before it writes the changes', { call: 'appendFileSync', at: 1, path: 'm/changes.jsonl', code: 'SIGKILL' }],
])(
  'F40 a run that is killed %s leaves a whole window; the next run makes it current, and records what was not replaced',
  async (_, fault) => {
    const { sandbox, args, mirror } = await setUp()
    expect(await sandbox.runFailing(args, [fault])).toMatchObject({ signal: 'SIGKILL' })
    const isReplaced = fault.call === 'appendFileSync'
    expect(rows(sandbox)).toEqual(isReplaced ? CHANGED : weekRows(WEEK))
    expect(afters(mirror)).toEqual([])
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    expect(rows(sandbox)).toEqual(CHANGED)
    expect(afters(mirror)).toEqual(isReplaced ? [] : ['1.00000000'])
  },
)

it('F70 a link in the place of changes.jsonl is named, and what it names stays', async () => {
  const { sandbox, args, mirror } = await setUp()
  const victim = join(tempFolder(), 'victim')
  writeFileSync(victim, '{"time":')
  symlinkSync(victim, join(mirror, 'changes.jsonl'))
  const run = await sandbox.call(args)
  expect(run).toMatchObject({ code: 0 })
  expect(run.stderr).toContain('m/changes.jsonl is a link.')
  expect(readFileSync(victim, 'utf8')).toBe('{"time":')
  expect(rows(sandbox)).toEqual(CHANGED)
})
