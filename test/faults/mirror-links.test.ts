import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { snapshot } from '../support/snapshot.js'
import { FULL_WEEKS, makeTree, putFile, weekPath } from '../support/synthetic-tree.js'
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

describe('F70 a mirror with a link that leads out of it', () => {
  it.each([
    ['written', SERIES],
    ['renamed', WINDOW],
    ['removed', '.klines-tmp'],
  ])('nothing is %s through %s: exit code 2 with its name', async (_, path) => {
    const { sandbox, server, mirror, victim } = await clonedMirror()
    putLink(mirror, path, join(victim, path))
    const before = snapshot(victim)
    const run = await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'])
    expect(run.stderr).toContain(
      `klines: m/${path} is a link. Below m, nothing is written, replaced or removed through a link.\n`,
    )
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expectPlainText(run.stderr)
    expect(snapshot(victim)).toEqual(before)
  })
})

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
