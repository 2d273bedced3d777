import { cpSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { oneOf } from '../support/full.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { snapshot } from '../support/snapshot.js'
import { FULL_WEEKS, makeTree, putFile, RENDERED, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { expectPlainText } from './support/fault-case.js'

const newSandbox = useSandboxes()
const TAG =
  'Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of klines; it can be fetched again.\n'
const CUT = weekPath('ETHUSDT', FULL_WEEKS[0])
const MISSING = weekPath('BTCUSDT', FULL_WEEKS[1])
const WINDOW = weekPath('BTCUSDT', FULL_WEEKS[3])
const SERIES = 'api/klines/15m/BTCUSDT'
const LIST = 'api/klines/start-dates/15m.json'

/** Places of links in a mirror, and whether `serve --upstream` meets them only when somebody asks for a window. */
const LINKS: readonly [path: string, isLate?: boolean][] = [
  ['.klines-tmp'],
  ['mirror.json'],
  ['CACHEDIR.TAG'],
  ['api'],
  ['api/klines'],
  ['api/klines/start-dates'],
  [LIST],
  ['api/klines/symbols.json'],
  ['api/klines/15m', true],
  [SERIES, true],
  [WINDOW, true],
]

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
  putFile(mirror, 'mirror.json', { layout: 1, baseUrl: server.url, complete: false })
  putFile(mirror, 'CACHEDIR.TAG', TAG)
  for (const name of ['thesis.tex', 'other~4194305~00112233445566aa', `${hostname()}~4194305~00112233445566aa`]) {
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

/** The commands that write a mirror, for a base address. */
const WRITERS: readonly [string, (url: string) => string[]][] = [
  ['download', url => ['download', 'BTCUSDT', '-i', '15m', '--base-url', url]],
  ['download --dry-run', url => ['download', 'BTCUSDT', '-i', '15m', '--base-url', url, '--dry-run']],
  ['download of a file', url => ['download', 'BTC*', '-i', '15m', '--base-url', url, '-o', 'x.csv']],
  ['download of a lake', url => ['download', 'BTCUSDT', '-i', '15m', '--base-url', url, '--layout', 'hive', '-o', 'x']],
  ['chart', url => ['chart', 'BTCUSDT', '-i', '15m', '--base-url', url]],
  ['chart of a picture', url => ['chart', 'BTCUSDT', '-i', '15m', '--base-url', url, '-o', 'x.svg']],
  ['mirror publish', () => ['mirror', 'publish']],
  ['mirror verify --repair', () => ['mirror', 'verify', '--repair']],
  ['mirror prune', () => ['mirror', 'prune', '--yes']],
  ['mirror clear', () => ['mirror', 'clear', '--yes']],
]

/** Runs a command that must refuse the link at `link`, before it has written anything. */
async function expectRefusal({ sandbox, mirror, victim }: Cloned, args: readonly string[], link: string) {
  const before = [snapshot(victim), snapshot(mirror), sandbox.files()]
  const run = await sandbox.call([...args, '--mirror', 'm'])
  expect(run.stderr).toContain(
    `klines: m/${link} is a link. Below m, nothing is written, replaced or removed through a link.\n`,
  )
  expect(run).toMatchObject({ code: 2, stdout: '' })
  expectPlainText(run.stderr)
  expect([snapshot(victim), snapshot(mirror), sandbox.files()]).toEqual(before)
}
type Cloned = Awaited<ReturnType<typeof clonedMirror>>

describe.each(WRITERS)('F70 %s refuses a mirror with a link, by its name, and writes nothing', (_, args) => {
  it.each(oneOf(3, LINKS))('at %s', async path => {
    const cloned = await clonedMirror()
    putLink(cloned.mirror, path, join(cloned.victim, path))
    await expectRefusal(cloned, args(cloned.server.url), path)
    expect(cloned.server.paths('windows')).toEqual([])
  })

  it.each(oneOf(3, ['.klines-tmp', SERIES, WINDOW]))('that leads nowhere, at %s', async path => {
    const cloned = await clonedMirror()
    putLink(cloned.mirror, path, join(cloned.victim, 'nowhere', 'at', 'all'))
    await expectRefusal(cloned, args(cloned.server.url), path)
  })
})

describe('F70 serve --upstream', () => {
  const serve = (url: string) => ['serve', '--upstream', '--port', '0', '--base-url', url]

  it.each(LINKS.filter(([, isLate]) => !isLate))('refuses a mirror with a link at %s when it starts', async path => {
    const cloned = await clonedMirror()
    putLink(cloned.mirror, path, join(cloned.victim, path))
    await expectRefusal(cloned, serve(cloned.server.url), path)
  })

  it.each(LINKS.filter(([, isLate]) => isLate))(
    'serves the service behind a link at %s from memory, and writes the other series',
    async path => {
      const { sandbox, server, mirror, victim } = await clonedMirror()
      putLink(mirror, path, join(victim, path))
      const before = snapshot(victim)
      const options = ['--upstream', '--base-url', server.url, '--mirror', 'm']
      const { url, stop } = await startServeCommand(sandbox, options)
      const wanted = path === WINDOW ? WINDOW : MISSING
      for (const asked of [wanted, CUT]) {
        const response = await fetch(`${url}/${asked}`)
        expect(response.status, asked).toBe(200)
        expect(Buffer.from(await response.arrayBuffer()).equals(readFileSync(join(server.root, asked))), asked).toBe(
          true,
        )
      }
      const { stderr, code } = await stop()
      expect(code).toBe(0)
      expect(stderr).toContain(`m/${path} is a link. Below m, nothing is written, replaced or removed through a link.`)
      expect(snapshot(victim)).toEqual(before)
      if (path !== 'api/klines/15m') {
        expect(readFileSync(join(mirror, CUT)).equals(readFileSync(join(server.root, CUT)))).toBe(true)
      }
    },
  )
})

describe('F70 a linked folder of temp files', () => {
  it('that leads to the home folder costs none of its files', async () => {
    const { sandbox, server, mirror } = await clonedMirror()
    const home = join(dirname(sandbox.folder), 'home')
    for (const name of ['thesis.tex', 'photos/a.jpg', '.ssh/id', 'a~1~0011223344556677'])
      putFile(home, name, 'precious')
    symlinkSync('../../home', join(mirror, '.klines-tmp'))
    const before = snapshot(home)
    for (const [name, args] of WRITERS) {
      expect(await sandbox.call([...args(server.url), '--mirror', 'm']), name).toMatchObject({ code: 2 })
    }
    expect(snapshot(home)).toEqual(before)
    expect(home).not.toBe(homedir())
  })

  it.each<[string, RegExp, (path: string) => void]>([
    ['a file', /Cannot write the mirror m: there is a file of that name \(EEXIST\)/, path => putFile(path, '', 'x')],
  ])('is a clear error when it is %s', async (_, message, make) => {
    for (const place of ['.klines-tmp', SERIES]) {
      const { sandbox, server, mirror } = await clonedMirror()
      rmSync(join(mirror, place), { recursive: true, force: true })
      make(join(mirror, place))
      const run = await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'])
      expect(run).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(message) })
    }
  })
})

describe('F70 readers go on, as without the link', () => {
  const READERS: readonly [string, string[]][] = [
    ['export', ['export', 'BTCUSDT', '-i', '15m', '-o', '-', '-f', 'csv']],
    ['verify', ['verify', 'BTCUSDT', '-i', '15m']],
    ['stats', ['stats', 'BTCUSDT', '-i', '15m']],
    ['chart --offline', ['chart', 'BTCUSDT', '-i', '15m', '--offline', '--ascii']],
    ['mirror status', ['mirror', 'status', '--json']],
  ]
  const wholeSeries = async () => {
    const cloned = await clonedMirror()
    for (const folder of [cloned.mirror, cloned.victim])
      cpSync(join(cloned.server.root, SERIES), join(folder, SERIES), { recursive: true })
    return cloned
  }

  it.each(READERS)('%s', async (_, args) => {
    const plain = await wholeSeries()
    const expected = await plain.sandbox.call([...args, '--mirror', 'm'])
    expect(expected.code, expected.stderr).toBe(0)
    for (const [path] of LINKS.filter(([path]) => path !== WINDOW)) {
      const { sandbox, server, mirror, victim } = await wholeSeries()
      putLink(mirror, path, join(victim, path))
      const before = [snapshot(victim), snapshot(mirror)]
      const run = await sandbox.call([...args, '--mirror', 'm'])
      expect(run.code, `${path}: ${run.stderr}`).toBe(0)
      // A linked `mirror.json` is not read, so the source is unknown.
      if (path !== 'mirror.json') expect(run.stdout.replace(server.url, plain.server.url), path).toBe(expected.stdout)
      expect([snapshot(victim), snapshot(mirror)]).toEqual(before)
    }
  })
})

describe('F70 another series than the linked one', () => {
  it('is downloaded, and the linked one stays as it was', async () => {
    const { sandbox, server, mirror, victim } = await clonedMirror()
    putLink(mirror, SERIES, join(victim, SERIES))
    const before = snapshot(victim)
    const run = await sandbox.call(['download', 'ETHUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'])
    expect(run.code).toBe(0)
    expect(readFileSync(join(mirror, CUT)).equals(readFileSync(join(server.root, CUT)))).toBe(true)
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
    for (const args of [
      ['verify', '--repair'],
      ['prune', '--yes'],
    ]) {
      expect(await sandbox.call(['mirror', ...args, '--mirror', name]), args[0]).toMatchObject({ code: 0 })
    }
    expect(readFileSync(join(real, CUT)).equals(readFileSync(join(server.root, CUT)))).toBe(true)
    expect(await sandbox.call(['mirror', 'clear', '--yes', '--mirror', name])).toMatchObject({ code: 0 })
    expect(filesBelow(real)).toEqual([])
  })

  it('the default folder, and the one of all mirrors', async () => {
    const { sandbox, server } = await clonedMirror()
    const [caches, other] = [tempFolder(), join(tempFolder(), 'other')]
    const cache = join(dirname(sandbox.folder), 'home/cache')
    mkdirSync(cache)
    symlinkSync(caches, join(cache, 'klines'))
    expect(await sandbox.call(download(server.url))).toMatchObject({ code: 0 })
    const root = (await sandbox.call(['mirror', 'path', '--base-url', server.url])).stdout.trim()
    expect(isDownloaded(root, server.root)).toBe(true)
    renameSync(root, other)
    symlinkSync(other, root)
    rmSync(join(other, MISSING))
    expect(await sandbox.call(download(server.url))).toMatchObject({ code: 0 })
    expect(isDownloaded(other, server.root)).toBe(true)
  })

  it('the output of an export', async () => {
    const { sandbox, server } = await clonedMirror()
    symlinkSync(sandbox.write('real.csv', 'old'), sandbox.path('x.csv'))
    expect(await sandbox.call([...download(server.url), '--mirror', 'm', '-o', 'x.csv', '--force'])).toMatchObject({
      code: 0,
    })
    expect(sandbox.text('real.csv')).toMatch(/^open_time,/)
    expect(lstatSync(sandbox.path('x.csv')).isSymbolicLink()).toBe(true)
  })
})

it('F70 a window that is hard-linked elsewhere is replaced, and its other name keeps bytes and time', async () => {
  const { sandbox, server, mirror, victim } = await clonedMirror()
  putFile(victim, 'mine.json', '[[2', RENDERED)
  linkSync(join(victim, 'mine.json'), join(mirror, MISSING))
  const run = await sandbox.call(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'])
  expect(run.code).toBe(0)
  expect(readFileSync(join(mirror, MISSING)).equals(readFileSync(join(server.root, MISSING)))).toBe(true)
  expect(readFileSync(join(victim, 'mine.json'), 'utf8')).toBe('[[2')
})
