import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { onlyPart } from '../support/lake.js'
import { MANY_SYMBOLS, manyPath, manyRows, manyWindows } from '../support/many-windows.js'
import { candle, putFile } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const DYING_WORKER = fileURLToPath(new URL('../support/cli/dying-worker.mjs', import.meta.url))
const SYMBOLS = MANY_SYMBOLS.slice(0, 4)
const WINDOWS = [0, 1, 2].map(week => manyRows('BTCUSDT')[week][0][0])
const newMirror = (sandbox: CliSandbox) => manyWindows(sandbox.path('m'), SYMBOLS.length, WINDOWS.length)
const args = (threads: number, output = 'out/{symbol}.csv', root = mirror) => [
  ...['export', 'all', '-i', '15m', '--mirror', root, '-o', output],
  ...['--threads', String(threads), '--force'],
]
/** The calls of the main thread fail. */
const callFailing = (args: readonly string[], fault: FailingCall) => sandbox.call(args, {}, { faults: [fault] })
const exports = (sandbox: CliSandbox) => sandbox.files().filter(name => !name.startsWith('m/'))

let mirror: string
let sandbox: CliSandbox
beforeAll(() => {
  mirror = newMirror(newSandbox())
})
beforeEach(() => {
  sandbox = newSandbox()
})

/** A mirror in the sandbox in which one window of each symbol is cut or missing. */
function damagedMirror(): string {
  const root = newMirror(sandbox)
  for (const [index, symbol] of SYMBOLS.entries()) {
    const path = join(root, manyPath(symbol, WINDOWS[index % WINDOWS.length]))
    if (index % 2 === 0) writeFileSync(path, readFileSync(path).subarray(0, 100))
    else rmSync(path)
  }
  return root
}

describe('an export with worker threads', () => {
  it('F48 reports corrupt and missing windows as one thread does, and leaves nothing', async () => {
    const damaged = damagedMirror()
    const alone = await sandbox.call([...args(1, undefined, damaged), '--json'])
    const run = await sandbox.call([...args(3, undefined, damaged), '--json'])
    expect(alone.code).toBe(3)
    expect(run).toMatchObject({ code: 3, stdout: alone.stdout, stderr: alone.stderr })
    expect(exports(sandbox)).toEqual([])
    expect(sandbox.exists('out')).toBe(false)
  })

  it('F43 a worker that ends ends the run: exit code 1, no file', async () => {
    const run = await sandbox.run(args(3), {
      NODE_OPTIONS: `--import=${DYING_WORKER}`,
      KLINES_TEST_DIE: manyPath('', WINDOWS[1]).split('/').at(-1) ?? '',
      KLINES_TEST_LOG: sandbox.path('died.log'),
    })
    expect(run.code).toBe(1)
    expect(sandbox.text('died.log')).toMatch(/^(died\n)+$/)
    expect(exports(sandbox)).toEqual(['died.log'])
  })

  it('F43 a full disk at the second write: exit code 1, one error, old files intact, no temp file', async () => {
    await sandbox.call(['export', 'BTCUSDT', ...'-i 15m -o BTCUSDT.csv --to 2018-01-08 --mirror'.split(' '), mirror])
    const old = sandbox.text('BTCUSDT.csv')
    const full = { call: 'handle.write', at: 2, code: 'ENOSPC', path: '.csv' }
    const run = await callFailing(args(3, '{symbol}.csv'), full)
    expect(run.code).toBe(1)
    const errors = run.stderr.split('\n').filter(line => line.startsWith('klines: '))
    expect(errors).toEqual([expect.stringMatching(/^klines: Cannot write \w+\.csv: the disk is full \(ENOSPC\)\.$/)])
    expect(exports(sandbox)).toEqual(['BTCUSDT.csv'])
    expect(sandbox.text('BTCUSDT.csv')).toBe(old)
  })

  it('F39 a second signal: old files are intact, and the next run removes the temp files', async () => {
    const output = '{symbol}.csv'
    sandbox.write('BTCUSDT.csv', 'old')
    const write = { call: 'handle.write', path: '.csv', times: 1, code: 'SIGINT' }
    const { code, signal } = await sandbox.runFailing(args(3, output), [write, { ...write, at: 2 }])
    // One that comes while Node shuts down finds no handler any more: to a shell both are 130.
    expect(signal === 'SIGINT' ? 130 : code).toBe(130)
    expect(sandbox.text('BTCUSDT.csv')).toBe('old')
    expect(await sandbox.call(args(3, output))).toMatchObject({ code: 0 })
    expect(exports(sandbox)).toEqual(SYMBOLS.map(symbol => `${symbol}.csv`).toSorted())
  })
})

describe('a lake with worker threads', () => {
  const lake = (threads: number, root: string) => [
    ...['export', 'all', '-i', '15m', '--mirror', root, '--layout', 'hive', '-o', 'lake'],
    ...['--threads', String(threads)],
  ]
  const PARTS = SYMBOLS.map(symbol => `lake/${onlyPart(symbol)}`)
  const readParts = () => PARTS.map(path => sandbox.bytes(path).toString('hex'))
  /** A mirror in which a window of each symbol has got one more candle since the lakes were made, which changes all parts. */
  let changed: string
  const withLake = usePreparedSandboxes(newSandbox, async first => {
    changed = newMirror(newSandbox())
    expect(await first.call(lake(1, changed))).toMatchObject({ code: 0 })
    for (const symbol of SYMBOLS) {
      const rows = manyRows(symbol)[1]
      putFile(changed, manyPath(symbol, rows[0][0]), [...rows, candle(rows[7][0] + 900_000, 1)])
    }
  })
  async function oldLake() {
    sandbox = await withLake()
    return { files: exports(sandbox), parts: readParts() }
  }

  it('F48 a corrupt window leaves all parts of the lake as they were', async () => {
    const { files, parts } = await oldLake()
    cpSync(changed, sandbox.path('m'), { recursive: true, preserveTimestamps: true })
    const path = sandbox.path(join('m', manyPath('ETHUSDT', WINDOWS[2])))
    writeFileSync(path, readFileSync(path).subarray(0, 100))
    expect(await sandbox.call(lake(3, 'm'))).toMatchObject({ code: 3 })
    expect(exports(sandbox)).toEqual(files)
    expect(readParts()).toEqual(parts)
  })

  it('F47 handle.sync fails with EIO for one part: exit code 1, the lake is as it was', async () => {
    const { files, parts } = await oldLake()
    const run = await sandbox.runFailing(lake(3, changed), [
      { call: 'handle.sync', code: 'EIO', path: 'symbol=BTCUSDT' },
    ])
    expect(run.code).toBe(1)
    expect(run.stderr).toContain(`klines: Cannot write lake/${onlyPart('BTCUSDT')}: `)
    expect(exports(sandbox)).toEqual(files)
    expect(readParts()).toEqual(parts)
  })

  it('F43 a full disk at the second write: exit code 1, one error, the lake is as it was', async () => {
    const { files, parts } = await oldLake()
    const run = await callFailing(lake(3, changed), { call: 'handle.write', at: 2, code: 'ENOSPC', path: '.parquet' })
    expect(run.code).toBe(1)
    const errors = run.stderr.split('\n').filter(line => line.startsWith('klines: '))
    expect(errors).toEqual([expect.stringMatching(/^klines: Cannot write lake\/\S+: the disk is full \(ENOSPC\)\.$/)])
    expect(exports(sandbox)).toEqual(files)
    expect(readParts()).toEqual(parts)
  })

  it('F39 SIGTERM ends it with exit code 143, and the lake is as it was', async () => {
    const { files, parts } = await oldLake()
    const run = await sandbox.runFailing(lake(3, changed), [
      { call: 'handle.write', path: '.parquet', times: 1, code: 'SIGTERM' },
    ])
    expect(run).toMatchObject({ code: 143, signal: null, stdout: '' })
    expect(run.stderr).toContain('Interrupted (SIGTERM)')
    expect(exports(sandbox)).toEqual(files)
    expect(readParts()).toEqual(parts)
  })
})
