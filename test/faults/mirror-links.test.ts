import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { snapshot } from '../support/snapshot.js'
import { FULL_WEEKS, makeTree, OPEN_WEEK, PRESENT, putFile, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { expectPlainText } from './support/fault-case.js'

const newSandbox = useSandboxes()
const CUT = weekPath('ETHUSDT', FULL_WEEKS[0])
const MISSING = weekPath('BTCUSDT', FULL_WEEKS[1])
const WINDOW = weekPath('BTCUSDT', FULL_WEEKS[3])
const SERIES = 'api/klines/15m/BTCUSDT'

/**
 * A mirror that was cloned into the working folder, which lacks a window, has a corrupt one and a stray file; and beside the
 * working folder the user's own files, old enough to be taken for leftovers, some of them named like temp files.
 */
async function clonedMirror() {
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox)
  const [mirror, victim] = [sandbox.path('m'), tempFolder()]
  makeTree(mirror)
  rmSync(join(mirror, MISSING))
  putFile(mirror, CUT, '[[1')
  putFile(mirror, 'api/klines/stray.json', 'a stray')
  putFile(mirror, 'mirror.json', { layout: 1, baseUrl: server.url })
  for (const name of ['thesis.tex', '4194305~00112233445566aa']) {
    putFile(mirror, `.klines-tmp/${name}`, 'precious')
  }
  cpSync(mirror, victim, { recursive: true, preserveTimestamps: true })
  // What lies in a folder of temp files is not what this is about.
  rmSync(join(mirror, '.klines-tmp'), { recursive: true })
  return { sandbox, server, mirror, victim }
}

/** Replaces what is at `path` in a folder by a link. */
function putLink(folder: string, path: string, target: string): void {
  rmSync(join(folder, path), { recursive: true, force: true })
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  symlinkSync(target, join(folder, path))
}

it.each([
  ['written', SERIES],
  ['renamed', WINDOW],
  ['removed', '.klines-tmp'],
])(
  'F70 a mirror with a link that leads out of it nothing is %s through %s: exit code 2 with its name',
  async (_, path) => {
    const { sandbox, server, mirror, victim } = await clonedMirror()
    putLink(mirror, path, join(victim, path))
    // A final window is only read.
    putFile(victim, WINDOW, '[[1')
    const before = snapshot(victim)
    const run = await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'])
    expect(run.stderr).toContain(
      `klines: m/${path} is a link. Below m, nothing is written, replaced or removed through a link.\n`,
    )
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expectPlainText(run.stderr)
    expect(snapshot(victim)).toEqual(before)
  },
)

describe('F70 a link that the user named is followed', () => {
  const download = (url: string) => ['download', 'BTCUSDT', '-i', '15m', '--base-url', url]
  const isDownloaded = (root: string, tree: string) =>
    readFileSync(join(root, MISSING)).equals(readFileSync(join(tree, MISSING)))

  it.each([
    ['the mirror itself', 'm'],
    ['a folder above it', 'disk/m'],
  ])('%s, by a flag and by the environment', async (_, name) => {
    const { sandbox, server, mirror } = await clonedMirror()
    const real = join(tempFolder(), 'm')
    renameSync(mirror, real)
    symlinkSync(name === 'm' ? real : dirname(real), sandbox.path(name === 'm' ? 'm' : 'disk'))
    expect(await sandbox.call([...download(server.url), '--mirror', name])).toMatchObject({ code: 0 })
    expect(isDownloaded(real, server.root)).toBe(true)
    rmSync(join(real, MISSING))
    expect(await sandbox.call(download(server.url), { KLINES_MIRROR: name })).toMatchObject({ code: 0 })
    expect(isDownloaded(real, server.root)).toBe(true)
    expect(
      await sandbox.call(['download', 'all', '-i', '15m', '--base-url', server.url, '--mirror', name]),
    ).toMatchObject({
      code: 0,
    })
    expect(readFileSync(join(real, CUT)).equals(readFileSync(join(server.root, CUT)))).toBe(true)
  })
})

const service = TreeServer.open(makeTree(newSandbox().path('tree')))
afterAll(async () => (await service).stop())
const stocked = usePreparedSandboxes(newSandbox, async sandbox => {
  const server = await service
  sandbox.now = server.date = PRESENT
  const download = ['download', 'all', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-q']
  expect(await sandbox.call(download)).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

/** A mirror whose windows are links to a store, as DVC, git-annex and `cp -s` make them: by absolute paths and by relative ones. */
async function linkedMirror(areLinks = /15m\/[A-Z]+\/.*json$/) {
  const [sandbox, server] = [await stocked(), await service]
  server.reset()
  const [mirror, store] = [sandbox.path('m'), tempFolder()]
  cpSync(mirror, store, { recursive: true, preserveTimestamps: true })
  for (const [index, path] of filesBelow(mirror)
    .filter(name => areLinks.test(name))
    .entries()) {
    const target = join(store, path)
    putLink(mirror, path, index % 2 === 0 ? target : relative(dirname(join(mirror, path)), target))
  }
  const series = ['BTCUSDT', '-i', '15m', '--mirror', 'm']
  const isUnchanged = snapshot(store)
  return { sandbox, server, mirror, store, series, expectUnchanged: () => expect(snapshot(store)).toEqual(isUnchanged) }
}

describe('F70 a file of a mirror that is a link to a store', () => {
  it('is read through the link by everything that only reads', async () => {
    const { sandbox, server, series, expectUnchanged } = await linkedMirror(/./)
    const rows = [...FULL_WEEKS, OPEN_WEEK].flatMap(week => JSON.parse(sandbox.text(`m/${weekPath('BTCUSDT', week)}`)))
    const exported = await sandbox.call(['export', ...series, '-f', 'json'])
    expect([exported.code, JSON.parse(exported.stdout)]).toEqual([0, rows])
    expect(await sandbox.call(['verify', ...series])).toMatchObject({ code: 0 })
    const final = ['download', ...series, '--from', FULL_WEEKS[0], '--to', FULL_WEEKS[2]]
    expect(await sandbox.call([...final, '--base-url', server.url])).toMatchObject({ code: 0, stderr: '' })
    expect(server.log).toEqual([])
    expectUnchanged()
  })

  it.each<[string, string, (store: string, path: string) => void]>([
    ['open', OPEN_WEEK, () => {}],
    ['corrupt', FULL_WEEKS[1], (store, path) => writeFileSync(join(store, path), '[[1')],
    ['without its file', FULL_WEEKS[1], (store, path) => rmSync(join(store, path))],
  ])('is named before any request when it would be written: %s', async (_, week, change) => {
    const { sandbox, server, mirror, store, series } = await linkedMirror()
    const path = weekPath('BTCUSDT', week)
    change(store, path)
    const snapshots = () => [snapshot(join(mirror, 'api')), snapshot(store)]
    const before = snapshots()
    const range = ['--from', week, '--to', '2025-02-12']
    const run = await sandbox.call(['download', ...series, '--base-url', server.url, ...range])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(new RegExp(`^klines: m/${path} is a link\\. Below m, nothing is written`))
    expect(run.stderr).toContain('Remove the link, or put what it names, ')
    expectPlainText(run.stderr)
    expect(server.log.filter(({ path }) => path.includes('15m/BTCUSDT'))).toEqual([])
    expect(snapshots()).toEqual(before)
  })

  it('is missing, by the name of what it links to, when that is not there', async () => {
    const { sandbox, store, series } = await linkedMirror()
    const path = weekPath('BTCUSDT', FULL_WEEKS[2])
    rmSync(join(store, path))
    const exported = await sandbox.call(['export', ...series, '-o', 'x.csv'])
    expect(exported).toMatchObject({ code: 3, stdout: '' })
    expect(exported.stderr).toMatch(new RegExp(`1 x not in the mirror: a link to \\S*${path}, which is not there`))
    expect(await sandbox.call(['verify', ...series])).toMatchObject({ code: 3 })
  })

  it('is corrupt if it names a device, and it is not replaced', async () => {
    const { sandbox, server, mirror, series } = await linkedMirror()
    const path = weekPath('BTCUSDT', FULL_WEEKS[2])
    rmSync(join(mirror, path))
    symlinkSync('/dev/zero', join(mirror, path))
    const checked = await sandbox.call(['verify', ...series])
    expect([checked.code, checked.stdout]).toEqual([6, expect.stringContaining('not a regular file')])
    expect(await sandbox.call(['mirror', '--mirror', 'm'])).toMatchObject({ code: 0 })
    const run = await sandbox.call(['download', ...series, '--base-url', server.url])
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(`m/${path} is a link.`)])
  })

  it.each(['.klines/15m/BTCUSDT.json', '.klines/start-dates/15m.json'])('keeps %s from being written', async path => {
    const { sandbox, server, series, expectUnchanged } = await linkedMirror(new RegExp(path))
    const run = await sandbox.call(['download', ...series, '--base-url', server.url])
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(`m/${path} is a link.`)])
    expect(server.paths('windows')).toEqual([])
    expectUnchanged()
  })

  it('keeps a published tree from being written', async () => {
    const { sandbox, mirror, store } = await linkedMirror()
    utimesSync(join(store, weekPath('ETHUSDT', FULL_WEEKS[1])), 0, 0)
    const before = [snapshot(mirror), snapshot(store)]
    const run = await sandbox.call(['mirror', 'publish', '--mirror', 'm'])
    expect([run.code, [snapshot(mirror), snapshot(store)]]).toEqual([2, before])
  })
})
