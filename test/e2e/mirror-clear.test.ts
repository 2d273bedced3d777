import { renameSync, statSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MirrorClearSchema } from '../../src/cli/reports/schema.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { deferred, until } from '../support/deferred.js'
import { oneOf } from '../support/full.js'
import type { TreeServer } from '../support/servers/tree-server.js'
import { snapshot } from '../support/snapshot.js'
import { OPEN_WEEK, putFile, START_DATES, STARTED, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const CLEAR = ['mirror', 'clear', '--mirror', 'm']
const DOWNLOAD = ['download', 'BTCUSDT', '-i', '15m', '--mirror', 'm']

/** A sandbox with a mirror of one symbol in `m`, and the names of the mirror's files. */
async function setUp(): Promise<{ sandbox: CliSandbox; server: TreeServer; mirrored: string[] }> {
  const { sandbox, server } = await stockedSandbox(newSandbox(), ['BTCUSDT'])
  const mirrored = sandbox.files('m')
  expect(mirrored).toHaveLength(START_DATES.length + 4)
  return { sandbox, server, mirrored }
}

/** The user's own files in and beside the mirror. */
const OTHERS = ['m/thesis.tex', 'm/api/openapi.json', 'm/api/mine/a.txt', 'beside.txt', 'elsewhere/2025-01-06.json']

function putOthers(sandbox: CliSandbox): void {
  for (const path of OTHERS) putFile(sandbox.folder, path, 'precious')
  symlinkSync(sandbox.path('elsewhere'), sandbox.path('m/api/klines/more'))
}

describe('mirror clear', () => {
  it('without a terminal removes nothing and is a usage error that names --yes', async () => {
    const { sandbox } = await setUp()
    const before = snapshot(sandbox.folder)
    const [text, json] = await Promise.all([sandbox.call(CLEAR), sandbox.call([...CLEAR, '--json'])])
    expect(text).toMatchObject({ code: 2, stdout: '' })
    expect(text.stderr).toBe(
      'klines: mirror clear asks before it removes 12 files of m, and there is no terminal.\n  --yes removes them without asking.\n',
    )
    expect(json).toMatchObject({ code: 2, stderr: '' })
    expect(snapshot(sandbox.folder)).toEqual(before)
  })

  it.each<[string, string[], Record<string, string>]>([
    ['--force', ['--force'], {}],
    ['KLINES_FORCE, which replaces files of an export', [], { KLINES_FORCE: '1' }],
  ])('takes no %s for a yes', async (_, flags, env) => {
    const { sandbox } = await setUp()
    const before = snapshot(sandbox.folder)
    const run = await sandbox.call([...CLEAR, ...flags], env)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('--yes removes')
    expect(snapshot(sandbox.folder)).toEqual(before)
  })

  it('KLINES_YES answers the question', async () => {
    const { sandbox } = await setUp()
    expect(await sandbox.call(CLEAR, { KLINES_YES: '1' })).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.exists('m')).toBe(false)
  })

  it('--yes removes all of the mirror and nothing else', async () => {
    const { sandbox, mirrored } = await setUp()
    putOthers(sandbox)
    const sentinels = snapshot(sandbox.path('elsewhere'))
    const run = await sandbox.call([...CLEAR, '--yes', '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const report = JSON.parse(run.stdout)
    expect(report).toMatchObject({ mirror: 'm', warnings: [] })
    expect([...report.removed].sort()).toEqual([...mirrored, 'api/klines/more'].sort())
    expect(sandbox.files()).toEqual([...OTHERS].sort())
    expect(snapshot(sandbox.path('elsewhere'))).toEqual(sentinels)
  })

  it('--yes lists the first 20 files and counts the others', async () => {
    const { sandbox } = await setUp()
    putOthers(sandbox)
    for (let name = 10; name < 30; name++) putFile(sandbox.path('m'), `api/klines/stray/${name}`, '12345')
    const run = await sandbox.call([...CLEAR, '--yes'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const lines = run.stdout.split('\n')
    expect(lines[20]).toBe('and 13 more')
    expect(lines[22]).toMatch(/^33 files, [\d.]+ kB, removed\.$/)
    expect(lines.slice(23)).toEqual(['Mirror: m', ''])
  })

  it('--yes removes a folder that is then empty, and a later download fetches everything again', async () => {
    const { sandbox, server, mirrored } = await setUp()
    expect(await sandbox.call([...CLEAR, '--yes', '-q'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(sandbox.exists('m')).toBe(false)
    expect(await sandbox.call([...CLEAR, '--yes'])).toMatchObject({ code: 3, stdout: '' })
    server.reset()
    expect(await sandbox.call([...DOWNLOAD, '--base-url', server.url])).toMatchObject({ code: 0, stderr: '' })
    expect(server.paths('windows')).toHaveLength(START_DATES.length)
    expect(sandbox.files('m')).toEqual(mirrored)
  })

  it('of a mirror that is a link empties the target of the link', async () => {
    const { sandbox } = await setUp()
    renameSync(sandbox.path('m'), sandbox.path('real'))
    symlinkSync('real', sandbox.path('m'))
    const run = await sandbox.call([...CLEAR, '--yes', '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(run.stdout).removed).toContain(weekPath('BTCUSDT', OPEN_WEEK))
    expect(sandbox.files()).toEqual(['m'])
  })

  it('while a download runs removes the windows stored before; those stored after are valid', async () => {
    const { sandbox, server, mirrored } = await setUp()
    const gate = deferred()
    const [before, after] = [STARTED.slice(0, 3), START_DATES.slice(3)].map(dates =>
      dates.map(date => weekPath('BTCUSDT', date)),
    )
    const changeTimes = () => before.map(path => statSync(sandbox.path(`m/${path}`)).ctimeMs)
    const old = changeTimes()
    server.reset()
    server.hold = path => (after.includes(path) ? gate.promise : undefined)
    const download = sandbox.start([...DOWNLOAD, '--base-url', server.url, '--refresh'])
    await until(() => after.every(path => server.paths().includes(path)))
    await until(() => changeTimes().every((time, index) => time > old[index]))
    expect(await sandbox.call([...CLEAR, '--yes'])).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.exists('m')).toBe(false)
    gate.resolve()
    expect(await download.ended).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('m').filter(path => path.startsWith('api/'))).toEqual(after)
    expect(await sandbox.call(['mirror', 'verify', '--mirror', 'm'])).toMatchObject({ code: 0, stderr: '' })
    // The rest of the run has made it a mirror again.
    expect(await sandbox.call([...DOWNLOAD, '--base-url', server.url])).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('m')).toEqual(mirrored)
  })
})

describe.skipIf(!hasScript)('mirror clear at a terminal (skipped without script of util-linux)', () => {
  const prompt = 'Remove 12 files ('

  it.each(
    oneOf(5, [
      ['n', 'n\r'],
      ['no', 'no\r'],
      ['Enter', '\r'],
      ['yellow', 'yellow\r'],
      ['Ctrl-D', '\u0004'],
    ]),
  )('asks, and %s keeps everything', async (_, keys) => {
    const { sandbox } = await setUp()
    const before = snapshot(sandbox.folder)
    const run = await atTerminal(sandbox, `klines ${CLEAR.join(' ')}`, { prompt, keys })
    expect(run.code).toBe(0)
    expect(run.stdout).toMatch(/of the mirror m\? \[y\/N\] /)
    expect(run.stdout.endsWith('\r\nNothing removed.\r\n')).toBe(true)
    expect(snapshot(sandbox.folder)).toEqual(before)
  })

  it('asks, and Ctrl-C is an interruption that keeps everything', async () => {
    const { sandbox } = await setUp()
    const before = snapshot(sandbox.folder)
    const run = await atTerminal(sandbox, `klines ${CLEAR.join(' ')}`, { prompt, keys: '\u0003' })
    expect(run.code).toBe(130)
    expect(run.stdout).toMatch(/\r\n\S+: Interrupted \(SIGINT\)\. Nothing was removed\.\r\n$/)
    expect(snapshot(sandbox.folder)).toEqual(before)
  })

  it.each(oneOf(2, ['y\r', 'YES\r']))('asks, and %j removes the mirror', async keys => {
    const { sandbox } = await setUp()
    const run = await atTerminal(sandbox, `klines ${CLEAR.join(' ')}`, { prompt, keys })
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('\r\n12 files, ')
    expect(sandbox.files()).toEqual([])
  })

  it('asks on stderr: --json prints the same object for no as for yes', async () => {
    const { sandbox, mirrored } = await setUp()
    const answer = async (keys: string) => {
      await atTerminal(sandbox, `sh -c "klines ${CLEAR.join(' ')} --json > out.json"`, { prompt, keys })
      return parseObject(sandbox.text('out.json'), MirrorClearSchema)
    }
    expect(await answer('n\r')).toEqual({ mirror: 'm', removed: [], bytes: 0, warnings: [] })
    expect((await answer('y\r')).removed.sort()).toEqual(mirrored)
  })

  it('does not ask when stderr is not the terminal', async () => {
    const { sandbox } = await setUp()
    const run = await atTerminal(sandbox, `sh -c "klines ${CLEAR.join(' ')} 2> err.txt"`)
    expect(run.code).toBe(2)
    expect(sandbox.text('err.txt')).toContain('there is no terminal')
    expect(sandbox.exists('m/mirror.json')).toBe(true)
  })
})
