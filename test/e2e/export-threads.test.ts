import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { exportKlines } from '../../src/engine/export.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startManyWindows } from '../support/cli/many-windows-server.js'
import { onWindow } from '../support/events.js'
import { MANY_SYMBOLS, manyPath, manyRows, manyWindows } from '../support/many-windows.js'
import { csvOf } from '../support/sample-tree.js'
import { candle, PRESENT, putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
/** Each is a task of its own. */
const SYMBOLS = MANY_SYMBOLS.slice(0, 4)
const makeTree = (weeks = 54) => manyWindows(newSandbox().path('m'), SYMBOLS.length, weeks)
const LAKE = ['--layout', 'hive', '-o', 'out']
let mirror: string
beforeAll(() => {
  mirror = makeTree()
})

/** What two runs have in common: times, and what is seen of files of the mirror, differ. */
const stable = (text: string, ...folders: string[]) =>
  folders
    .reduce((all, folder) => all.replaceAll(folder, ''), text)
    .replaceAll(/"elapsed\w*": ?[\d.]+/g, '"elapsed": 0')
    .replaceAll(/,?"(?:mtime|seen)":(?:"[^"]*"|[\d.]+)/g, '')

/** What is in `out`, by name. */
function readFiles(sandbox: CliSandbox): Record<string, string> {
  const read = (name: string) => {
    const text = sandbox.bytes(`out/${name}`).toString('latin1')
    return name.endsWith('.json') || name.endsWith('.md') || name.endsWith('.sql') ? stable(text, sandbox.folder) : text
  }
  return Object.fromEntries(sandbox.files('out').map(name => [name, read(name)]))
}

/** Exports into `out`; returns what does not depend on the run. */
async function exportAll(sandbox: CliSandbox, threads: number, args: readonly string[], root = mirror) {
  const place = ['--mirror', root, '--threads', String(threads), '--json']
  const run = await sandbox.call(['export', 'all', '-i', '15m', ...place, ...args])
  return { code: run.code, stderr: run.stderr, json: stable(run.stdout, root), files: readFiles(sandbox) }
}

describe('with several threads', () => {
  it.each<[string, string[]]>([
    ['Parquet with decimals', ['-o', 'out/{symbol}.parquet', '--numbers', 'decimal']],
    ['incomplete candles', ['-o', 'out/{symbol}.csv', '--resample', '2w', '--partial', '--from', '2018-01-03']],
    ['lake', [...LAKE, '--resample', '3h']],
  ])('an export writes the same %s with the same report as one thread', async (_, args) => {
    const [alone, other] = await Promise.all([1, 2].map(threads => exportAll(newSandbox(), threads, args)))
    expect(alone.code).toBe(0)
    expect(Object.keys(alone.files).length).toBeGreaterThanOrEqual(SYMBOLS.length)
    expect(other).toEqual(alone)
  })

  it('a lake is refreshed as one thread does, which writes only the parts that have changed', async () => {
    const tree = makeTree()
    const sandboxes = [1, 2].map(threads => ({ threads, sandbox: newSandbox() }))
    const updateAll = () =>
      Promise.all(sandboxes.map(({ threads, sandbox }) => exportAll(sandbox, threads, LAKE, tree)))
    const [before, otherBefore] = await updateAll()
    expect(otherBefore).toEqual(before)
    const [same, ...others] = SYMBOLS
    for (const symbol of others) {
      const rows = manyRows(symbol)[25]
      putFile(tree, manyPath(symbol, rows[0][0]), [...rows, candle(rows[7][0] + 900_000, 1)])
    }
    const [after, other] = await updateAll()
    expect(other).toEqual(after)
    expect(JSON.parse(after.json).lake).toMatchObject({ written: others.length })
    const changed = Object.keys(after.files).filter(
      name => /parquet$/.test(name) && before.files[name] !== after.files[name],
    )
    expect(changed).toHaveLength(others.length)
    expect(changed.filter(name => name.includes(same))).toEqual([])
  })

  it('the real program writes the rows of each series to its own file', async () => {
    const sandbox = newSandbox()
    const args = ['export', 'all', '-i', '15m', '-o', 'out/{symbol}.csv', '--mirror', mirror, '--threads', '2']
    // Its workers are those of the package.
    expect(await sandbox.run(args)).toMatchObject({ code: 0 })
    for (const symbol of SYMBOLS)
      expect(sandbox.text(`out/${symbol}.csv`)).toBe(csvOf(manyRows(symbol).slice(0, 54).flat()))
  })

  it('a download writes the same files and the same lake as with one thread', async () => {
    const server = await startManyWindows(newSandbox(), makeTree(12))
    const download = async (threads: string, output = LAKE, sandbox = newSandbox()) => {
      // The time of the service: with another, a note would say this machine's time.
      sandbox.now = PRESENT
      const place = ['--base-url', server.url, '--mirror', 'm', '--to', '2018-03-26', '--threads', threads, '--json']
      const run = await sandbox.call(['download', ...SYMBOLS, '-i', '15m', ...place, ...output])
      expect(run).toMatchObject({ code: 0, stderr: '' })
      return { report: stable(run.stdout, sandbox.folder), files: readFiles(sandbox) }
    }
    const both = newSandbox()
    const lake = await download('1')
    expect(await download('2', LAKE, both)).toEqual(lake)
    expect(server.paths('windows')).toHaveLength(2 * 12 * SYMBOLS.length)
    const { files } = await download('2', ['-o', 'out/{symbol}.csv', '--refresh'], both)
    for (const symbol of SYMBOLS) expect(files[`${symbol}.csv`]).toBe(csvOf(manyRows(symbol).slice(0, 12).flat()))
  })

  it('a listener that throws ends an export, and leaves nothing', async () => {
    const out = join(tempFolder(), 'out')
    const stop = new Error('stop')
    const done = exportKlines({
      ...{ symbols: 'all', intervals: ['15m'], mirror, offline: true, threads: 2 },
      output: join(out, '{symbol}.csv'),
      onEvent: onWindow(({ window }) => {
        if (window.symbol === SYMBOLS[0]) throw stop
      }),
    })
    await expect(done).rejects.toBe(stop)
    expect(existsSync(out)).toBe(false)
  })
})
