import { rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { makeTree, OPEN_WEEK, putFile, RENDERED, type Row, weekPath, weekRows } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const DAY = 86_400_000
const PATH = weekPath('BTCUSDT', OPEN_WEEK)
const KEPT = /^Note: BTCUSDT 15m 2025-02-10: the new version lacks \d cached candles?, so the cached window stays\./

/** A mirror, and a service that gives its open window anew; `rows` says what the mirror has of it. */
async function setUp() {
  const tree = makeTree(tempFolder())
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox, tree)
  const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-q']
  expect(await sandbox.call(args)).toMatchObject({ code: 0, stderr: '' })
  let rendered = RENDERED
  const give = async (rows: readonly Row[]) => {
    rendered += DAY
    putFile(tree, PATH, rows, rendered)
    return sandbox.call(args)
  }
  const rows = () => JSON.parse(sandbox.text(`m/${PATH}`)) as Row[]
  return { sandbox, give, rows, args }
}

it('F91 an answer that withdraws a candle and goes on is taken, and printed also with --quiet', async () => {
  const { give, rows } = await setUp()
  const [first, , third] = weekRows(OPEN_WEEK, { days: 3 })
  const run = await give([first, third])
  expect(run).toMatchObject({ code: 0, stdout: '' })
  expect(run.stderr).toBe('1 cached candle changed:\n  BTCUSDT 15m 2025-02-11 00:00\n    withdrawn\n')
  expect(rows()).toEqual([first, third])
})

it('F91 an answer without the newest candles is kept out with a note; once the file is removed, it is taken and verified', async () => {
  const { sandbox, give, rows, args } = await setUp()
  const [first, second] = weekRows(OPEN_WEEK, { days: 2 })
  const run = await give([first])
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(KEPT) })
  expect(rows()).toEqual([first, second])
  rmSync(sandbox.path(`m/${PATH}`))
  expect(await sandbox.call(args)).toMatchObject({ code: 0, stderr: '' })
  expect(rows()).toEqual([first])
  expect((await sandbox.call(['verify', 'BTCUSDT', '-i', '15m', '--mirror', 'm'])).stdout).not.toMatch(/corrupt/)
})

it('F91 half an answer is kept out with a note', async () => {
  const { give, rows } = await setUp()
  const all = weekRows(OPEN_WEEK, { days: 2 })
  expect(await give([])).toMatchObject({ code: 0, stderr: expect.stringMatching(KEPT) })
  expect(rows()).toEqual(all)
})
