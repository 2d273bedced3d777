import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrorSchema, MirrorVerifySchema } from '../../src/cli/reports/schema.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { WITHOUT_ROOT, whileReadOnly } from '../support/permission.js'
import { snapshot } from '../support/snapshot.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const LIST = 'api/klines/start-dates/15m.json'
const SYMBOLS_LIST = 'api/klines/symbols.json'
/** A temp file of a dead process: process ids end at 2^22. */
const LEFTOVER = `.klines-tmp/${hostname()}~4194305~00112233445566aa`
const [CUT, WRONG, FOLDER] = FULL_WEEKS.map(date => weekPath('BTCUSDT', date))
/** The corrupt files of `damage`, in the order of their paths, temp files last. */
const CORRUPT = [CUT, WRONG, FOLDER, LIST, LEFTOVER]
const VERIFY = ['mirror', 'verify', '--mirror', 'm']

/** Corrupts five files of the mirror, each in another way. */
function damage(sandbox: CliSandbox): void {
  sandbox.write(`m/${CUT}`, sandbox.text(`m/${CUT}`).slice(0, 300))
  putFile(sandbox.path('m'), WRONG, weekRows(OPEN_WEEK))
  rmSync(sandbox.path(`m/${FOLDER}`))
  mkdirSync(sandbox.path(`m/${FOLDER}`))
  sandbox.write(`m/${LIST}`, '["2025-01-06","../../etc/passwd"]')
  putFile(sandbox.path('m'), LEFTOVER, 'half')
}

describe('mirror verify', () => {
  it('of a valid mirror is exit code 0, as text and as an object', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    const [text, json, quiet] = await Promise.all([
      sandbox.call(VERIFY),
      sandbox.call([...VERIFY, '--json']),
      sandbox.call([...VERIFY, '-q']),
    ])
    const size = filesBelow(sandbox.path('m/api')).reduce((sum, name) => sum + sandbox.bytes(`m/api/${name}`).length, 0)
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toBe(
      `18 files read: 16 windows, 84 candles, ${(size / 1000).toFixed(1)} kB. No problems found.\nMirror: m\n`,
    )
    expect(quiet).toMatchObject({ code: 0, stdout: text.stdout, stderr: '' })
    expect(json).toMatchObject({ code: 0, stderr: '' })
    const counts = { mirror: 'm', files: 18, windows: 16, candles: 84, bytes: size }
    const nothing = { corrupt: [], strays: [], repaired: [], failed: [], warnings: [] }
    expect(parseObject(json.stdout, MirrorVerifySchema)).toEqual({ ...counts, ...nothing })
  })

  it('names each corrupt file with the reason, exit code 6, and changes nothing', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    damage(sandbox)
    sandbox.write('m/api/klines/stray.txt', 'x')
    const before = snapshot(sandbox.path('m'))
    const [text, json] = await Promise.all([sandbox.call(VERIFY), sandbox.call([...VERIFY, '--json'])])
    expect(text).toMatchObject({ code: 6, stderr: '' })
    const lines = text.stdout.split('\n')
    expect(lines.slice(0, 6).map(line => line.split(': ')[0])).toEqual([...CORRUPT, ''])
    expect(lines[2]).toBe(`${FOLDER}: not a regular file`)
    expect(lines[6]).toMatch(/^18 files read: 16 windows, .* kB\. Corrupt: 5 files\.$/)
    expect(lines.slice(7)).toEqual([
      '--repair downloads corrupt files again.',
      '1 file has no place in the mirror: klines mirror prune removes it.',
      'Mirror: m',
      '',
    ])
    expect(json).toMatchObject({ code: 6, stderr: '' })
    const { corrupt, strays, repaired, failed } = parseObject(json.stdout, MirrorVerifySchema)
    expect(corrupt.map(({ path }) => path)).toEqual(CORRUPT)
    expect({ strays, repaired, failed }).toEqual({ strays: ['api/klines/stray.txt'], repaired: [], failed: [] })
    expect(server.log).toEqual([])
    expect(snapshot(sandbox.path('m'))).toEqual(before)
  })

  it('--repair fetches exactly the corrupt files, unconditionally, from the address of the mirror; then all are valid', async () => {
    const { sandbox, server, tree } = await stockedSandbox(newSandbox())
    damage(sandbox)
    const run = await sandbox.call([...VERIFY, '--repair', '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const { corrupt, repaired, failed, warnings } = parseObject(run.stdout, MirrorVerifySchema)
    expect(corrupt.map(({ path }) => path)).toEqual(CORRUPT)
    expect({ repaired, failed, warnings }).toEqual({ repaired: CORRUPT, failed: [], warnings: [] })
    expect(server.paths().sort()).toEqual(CORRUPT.slice(0, 4).sort())
    expect(server.log.every(({ headers }) => headers['if-modified-since'] === undefined)).toBe(true)
    expect(filesBelow(sandbox.path('m/api'))).toEqual(filesBelow(`${tree}/api`))
    for (const path of [CUT, WRONG, FOLDER, LIST]) {
      expect(sandbox.bytes(`m/${path}`).equals(readFileSync(join(tree, path))), path).toBe(true)
    }
    expect(sandbox.exists(`m/${LEFTOVER}`)).toBe(false)

    server.reset()
    const again = await sandbox.call([...VERIFY, '--repair'])
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toContain('No problems found.')
    expect(server.log).toEqual([])
  })

  it('--repair names the files that the service lacks, replaces the others, and is exit code 3', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    damage(sandbox)
    sandbox.write(`m/${SYMBOLS_LIST}`, '')
    server.always(WRONG, { status: 404 })
    server.always(LIST, { status: 404, body: 'nothing' })
    server.always(SYMBOLS_LIST, { body: '["NOPE' })
    const json = await sandbox.call([...VERIFY, '--repair', '--json'])
    expect(json).toMatchObject({ code: 3, stderr: '' })
    const { repaired, failed } = parseObject(json.stdout, MirrorVerifySchema)
    expect(repaired).toEqual([CUT, FOLDER, LEFTOVER])
    expect(failed).toEqual([
      { path: WRONG, reason: 'status 404' },
      { path: LIST, reason: 'status 404' },
      { path: SYMBOLS_LIST, reason: 'The list of symbols is refused: it is not JSON' },
    ])
    const text = await sandbox.call([...VERIFY, '--repair'])
    expect(text.code).toBe(3)
    expect(text.stdout).toContain('0 of 3 repaired.\n')
    expect(text.stdout).toContain(`${WRONG} could not be downloaded: status 404.\n`)
    expect(text.stdout).toContain('not JSON.\n')
  })

  it('--repair is exit code 5 when the service is unreachable, and leaves every file', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    await server.stop()
    sandbox.write(`m/${LIST}`, '[')
    const run = await sandbox.call([...VERIFY, '--repair'])
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(/^klines: .*cannot be reached/)
    expect(sandbox.text(`m/${LIST}`)).toBe('[')
  })

  it('--repair of a mirror of the sample uses the sample', async () => {
    const sandbox = newSandbox()
    const path = 'm/api/klines/1d/BTCUSDT/2024-01-01.json'
    expect(await sandbox.call('download BTCUSDT -i 1d --base-url sample --mirror m'.split(' '))).toMatchObject({
      code: 0,
    })
    const valid = sandbox.text(path)
    sandbox.write(path, valid.slice(5))
    expect(await sandbox.call([...VERIFY, '--repair'])).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.text(path)).toBe(valid)
  })

  it.each(['verify', 'prune', 'clear'])(
    'mirror %s without a mirror, and with another address, is an error',
    async name => {
      const { sandbox, server } = await stockedSandbox(newSandbox())
      const [none, other] = await Promise.all([
        sandbox.call(['mirror', name, '--mirror', 'none']),
        sandbox.call(['mirror', name, '--mirror', 'm', '--base-url', 'http://other.example', '--json']),
      ])
      expect(none).toMatchObject({ code: 3, stdout: '' })
      expect(none.stderr).toBe(
        'klines: There is no mirror at none.\n  Download candles first: klines download SYMBOL -i INTERVAL, with the same --mirror.\n',
      )
      expect(sandbox.exists('none')).toBe(false)
      expect(other).toMatchObject({ code: 2, stderr: '' })
      expect(parseObject(other.stdout, ErrorSchema).error.message).toBe(
        `m is a mirror of ${server.url}, not of http://other.example.`,
      )
    },
  )

  it('names an unreadable file; an unreadable or read-only folder is an error', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    const withoutRoot = (args: string) => sandbox.shell([...WITHOUT_ROOT, 'klines', args, '--mirror m'].join(' '))
    for (const folder of [sandbox.folder, dirname(sandbox.folder), dirname(dirname(sandbox.folder))])
      chmodSync(folder, 0o755)
    chmodSync(sandbox.path(`m/${CUT}`), 0)
    const file = await withoutRoot('mirror verify')
    chmodSync(sandbox.path(`m/${CUT}`), 0o644)
    expect(file).toMatchObject({ code: 3, stdout: '' })
    expect(file.stderr).toContain(`klines: Cannot read ${CUT} of the mirror m: permission denied (EACCES).\n`)

    sandbox.write(`m/${CUT}`, sandbox.text(`m/${CUT}`).slice(0, 300))
    await whileReadOnly(sandbox.path('m'), async () => {
      const before = snapshot(sandbox.path('m'))
      for (const command of ['mirror clear --yes', 'mirror verify --repair']) {
        const run = await withoutRoot(command)
        expect(run).toMatchObject({ code: 3, stdout: '' })
        expect(run.stderr).toMatch(/^klines: Cannot write the mirror m: permission denied \(EACCES\)\.\n {2}Give .*\n$/)
      }
      expect(snapshot(sandbox.path('m'))).toEqual(before)
    })

    chmodSync(sandbox.path('m/api/klines/15m'), 0)
    const folder = await withoutRoot('mirror verify')
    chmodSync(sandbox.path('m/api/klines/15m'), 0o755)
    expect(folder).toMatchObject({ code: 3, stdout: '' })
    expect(folder.stderr).toMatch(/^klines: Cannot read the mirror m: permission denied \(EACCES\)\.\n/)
  })
})
