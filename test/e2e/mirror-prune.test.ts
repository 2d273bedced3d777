import { cpSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { MirrorPruneSchema } from '../../src/cli/reports/schema.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { snapshot } from '../support/snapshot.js'
import { putFile, START_DATES, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const LIST = 'api/klines/start-dates/15m.json'
const LEFTOVER = `.klines-tmp/${hostname()}~4194305~00112233445566aa`
const VERIFY = ['mirror', 'verify', '--mirror', 'm']

describe('mirror prune', () => {
  const PRUNE = ['mirror', 'prune', '--mirror', 'm']
  const STRAYS = ['api/klines/15m/BTCUSDT/notes.txt', weekPath('ETHUSDT', '2025-02-24')]

  it('removes files that no list names and temp files of dead processes; --dry-run only lists them', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    const kept = sandbox.files('m')
    for (const path of [...STRAYS, LEFTOVER]) putFile(sandbox.path('m'), path, '12345')
    putFile(sandbox.path('m'), 'api/klines/\u001B[31m\nred', '12345')
    const before = snapshot(sandbox.path('m'))
    const paths = ['api/klines/15m/BTCUSDT/notes.txt', STRAYS[1], 'api/klines/\u001B[31m\nred', LEFTOVER]
    const tail = `\n\n4 files, 20 B, would be removed.\nMirror: m\n`
    const [text, json] = await Promise.all([
      sandbox.call([...PRUNE, '--dry-run']),
      sandbox.call([...PRUNE, '--dry-run', '--json']),
    ])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout.split('\n').slice(0, 4).sort()).toEqual(paths.map(path => path.replace(/\p{C}/gu, '?')).sort())
    expect(text.stdout.endsWith(tail)).toBe(true)
    const { removed, ...rest } = parseObject(json.stdout, MirrorPruneSchema)
    expect([...removed].sort()).toEqual([...paths].sort())
    expect(rest).toEqual({ dryRun: true, mirror: 'm', bytes: 20, warnings: [] })
    expect(snapshot(sandbox.path('m'))).toEqual(before)

    const real = await sandbox.call([...PRUNE, '--yes', '--json'])
    expect(parseObject(real.stdout, MirrorPruneSchema)).toEqual({ ...rest, dryRun: false, removed })
    expect(sandbox.files('m')).toEqual(kept)
    const none = await sandbox.call(PRUNE)
    expect(none).toMatchObject({ code: 0, stdout: '0 files, 0 B, removed.\nMirror: m\n', stderr: '' })
  })

  it('asks for files that klines did not write, as for windows', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    putFile(sandbox.path('m'), LEFTOVER, '12345')
    expect(await sandbox.call(PRUNE)).toMatchObject({ code: 0, stderr: '' })
    for (const path of ['api/klines/index.html', STRAYS[0]]) putFile(sandbox.path('m'), path, 'x')
    const run = await sandbox.call(PRUNE)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('asks before it removes 2 files of m that klines did not write, and there is no')
    putFile(sandbox.path('m'), STRAYS[1], '12345')
    const before = snapshot(sandbox.path('m'))
    expect((await sandbox.call(PRUNE)).stderr).toContain(
      '1 cached window of m that the lists do not name and 2 files of m that klines did not write',
    )
    expect(snapshot(sandbox.path('m'))).toEqual(before)
    expect(await sandbox.call([...PRUNE, '--yes'])).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.exists('m/api/klines/index.html')).toBe(false)
  })

  it('with a corrupt list is an error whose advice repairs it', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    putFile(sandbox.path('m'), STRAYS[0], 'x')
    sandbox.write(`m/${LIST}`, '["2025-01-06"')
    const run = await sandbox.call(PRUNE)
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(
      /^klines: .*15m\.json does not say .* nothing is removed\..*\n {2}klines mirror verify --repair .*\n$/,
    )
    expect(sandbox.exists(`m/${STRAYS[0]}`)).toBe(true)
    expect(await sandbox.call([...VERIFY, '--repair'])).toMatchObject({ code: 0 })
    expect(await sandbox.call([...PRUNE, '--yes'])).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.exists(`m/${STRAYS[0]}`)).toBe(false)
    expect(sandbox.files('m/api/klines/15m/BTCUSDT')).toHaveLength(START_DATES.length)
  })
})

describe.skipIf(!hasScript)('at a terminal (skipped without script of util-linux)', () => {
  it('verify shows its progress and clears it again; elsewhere it shows nothing', async () => {
    const sandbox = newSandbox()
    cpSync(SAMPLE_TREE, sandbox.path('m'), { recursive: true })
    symlinkSync('nowhere', sandbox.path('m/api/klines/stray'))
    const [shown, plain] = [await atTerminal(sandbox, 'klines mirror verify --mirror m'), await sandbox.call(VERIFY)]
    expect(plain).toMatchObject({ code: 0, stderr: '' })
    expect(plain.stdout).not.toContain('\u001B')
    const [show, hide, clearLine] = ['\u001B[?25l', '\u001B[?25h', '\u001B[0K']
    expect(shown.stdout).toContain(show)
    const counts = [...shown.stdout.matchAll(/(\d+) of 94 files/g)].map(([, count]) => Number(count))
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(counts.at(-1)).toBe(94)
    // ora clears the line before the report; the cursor may return after it.
    const after = shown.stdout.slice(shown.stdout.lastIndexOf('94 of 94 files') + '94 of 94 files'.length)
    expect(after).toContain(hide)
    expect(after.replaceAll('\r\n', '\n')).toContain(plain.stdout)
    expect(after.slice(0, after.indexOf('94 files read'))).toContain(clearLine)
  })
})
