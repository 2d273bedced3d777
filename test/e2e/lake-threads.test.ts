import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { cases } from '../support/cases.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startManyWindows } from '../support/cli/many-windows-server.js'
import { onlyPart } from '../support/lake.js'
import { MANY_END, MANY_SYMBOLS, MANY_WINDOWS, manyPath, manyRows, manyWindows } from '../support/many-windows.js'
import { candle, PRESENT, putFile } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
let mirror: string
beforeAll(() => {
  mirror = manyWindows(newSandbox().path('m'))
})

const ALL = ['export', 'all', '-i', '15m', '--layout', 'hive', '-o', 'lake', '--json']

/** Brings the lake of a sandbox up to date; returns what does not depend on the time. */
async function update(sandbox: CliSandbox, threads: number, args: readonly string[], root = mirror) {
  const run = await sandbox.call([...ALL, '--mirror', root, '--threads', String(threads), ...args])
  const json = withoutTimes(run.stdout).replaceAll(root, 'm')
  return { code: run.code, stderr: run.stderr, json, files: readFiles(sandbox) }
}

/** A hash of each file of a lake, without what two runs cannot share: times of files, and what is seen of those of the mirror. */
function readFiles(sandbox: CliSandbox): Record<string, string> {
  const changing = /,?"(mtime|seen)":("[^"]*"|[\d.]+)/g
  const entries = sandbox.files('lake').map(name => {
    const bytes = sandbox.bytes(`lake/${name}`)
    const text = bytes.toString('latin1').replaceAll(changing, '').replaceAll(sandbox.folder, '')
    return [name, sha256(name.endsWith('.parquet') ? bytes : text)]
  })
  return Object.fromEntries(entries)
}

describe.concurrent('a lake with several threads', () => {
  it.each([
    ['doubles', []],
    ['decimals', ['--numbers', 'decimal']],
    ['a part a year', ['--partition', 'year']],
    ['some columns', ['--columns', 'open_time,close']],
    ['resampled candles', ['--resample', '3h']],
    ['candles of a range, incomplete ones too', ['--resample', '2w', '--partial', '--from', '2018-01-03']],
    ['a range that starts and ends inside of windows', ['--from', '2018-02-05T00:30', '--to', '2019-02-04T00:45']],
  ] as [string, string[]][])('writes the same files with the same report as one thread: %s', async (_, args) => {
    const [alone, ...others] = await Promise.all([1, ...[2, 4]].map(threads => update(newSandbox(), threads, args)))
    expect(alone).toMatchObject({ code: 0, stderr: '' })
    const parts = Object.keys(alone.files).filter(name => name.startsWith('symbol='))
    expect(new Set(parts.map(name => name.split('/')[0])).size).toBe(MANY_SYMBOLS.length)
    for (const other of others) expect(other).toEqual(alone)
  })

  it.each([
    ['plain files', []],
    ['a part a year', ['--partition', 'year']],
  ] as [string, string[]][])(
    'refreshes %s as one thread does, and writes only the parts that have changed',
    async (_, args) => {
      const tree = manyWindows(newSandbox().path('m'))
      const sandboxes = [1, cases(5, 3)].map(threads => ({ threads, sandbox: newSandbox() }))
      const updateAll = () => Promise.all(sandboxes.map(({ threads, sandbox }) => update(sandbox, threads, args, tree)))
      const [before, otherBefore] = await updateAll()
      expect(otherBefore).toEqual(before)
      for (const symbol of MANY_SYMBOLS.slice(1)) {
        const rows = manyRows(symbol)[25]
        putFile(tree, manyPath(symbol, rows[0][0]), [...rows, candle(rows[7][0] + 900_000, 1)])
      }
      const [after, other] = await updateAll()
      expect(other).toEqual(after)
      expect(JSON.parse(after.json).lake).toMatchObject({ written: MANY_SYMBOLS.length - 1 })
      const [same, ...changed] = MANY_SYMBOLS.map(symbol =>
        Object.keys(after.files).filter(
          name => name.includes(symbol) && name.endsWith('.parquet') && before.files[name] !== after.files[name],
        ),
      )
      expect(same).toEqual([])
      for (const parts of changed) expect(parts).toHaveLength(1)
    },
  )
})

it('a download makes the same lake with several threads', async () => {
  const server = await startManyWindows(newSandbox())
  const source = ['--base-url', server.url, '--mirror', 'm', '--to', MANY_END]
  const download = async (threads: string) => {
    const sandbox = newSandbox()
    // The time of the service: with another, a note would say this machine's time.
    sandbox.now = PRESENT
    const args = ['download', ...MANY_SYMBOLS, '-i', '15m', ...source, '--layout', 'hive', '-o', 'lake', '--json']
    const { code, stderr, stdout } = await sandbox.call([...args, '--threads', threads])
    return { code, stderr, json: withoutTimes(stdout).replaceAll(sandbox.folder, ''), files: readFiles(sandbox) }
  }
  const alone = await download('1')
  expect(alone).toMatchObject({ code: 0, stderr: '' })
  expect(Object.keys(alone.files).filter(name => name.endsWith('.parquet'))).toEqual(
    MANY_SYMBOLS.map(symbol => onlyPart(symbol)).toSorted(),
  )
  expect(await download('4')).toEqual(alone)
  expect(server.paths('windows')).toHaveLength(2 * MANY_WINDOWS)
})

const withoutTimes = (json: string) => json.replaceAll(/"elapsed\w*": ?[\d.]+/g, '"elapsed": 0')
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

it.each(['0', '257', 'x'])('--threads %s is a usage error', async threads => {
  const args = [...ALL.slice(0, -1), '--mirror', mirror, '--threads', threads]
  for (const mode of [[], ['--dry-run']]) {
    const run = await newSandbox().call([...args, ...mode])
    expect(run.code).toBe(2)
    expect(run.stderr).toContain('--threads')
  }
})
