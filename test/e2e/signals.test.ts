import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bigMirror } from '../support/big-mirror.js'
import { CLOCK, type CliSandbox, FORCED_EXIT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { PROMPT_MS, until } from '../support/deferred.js'
import { EMPTY_WEEK, FULL_WEEKS, START_DATES, treeRows, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const

/** The windows in a mirror; fails when one is incomplete, or when there are other files. */
function cachedWindows(sandbox: CliSandbox): string[] {
  const names = sandbox.files('m')
  const windows = names.filter(name => /\d\.json$/.test(name))
  const others = names.filter(name => !windows.includes(name) && !name.startsWith('.klines/'))
  expect(others).toEqual(['mirror.json'])
  for (const name of windows) {
    const startDate = name.slice(-'2025-01-01.json'.length, -'.json'.length)
    expect(JSON.parse(sandbox.text(join('m', name))), name).toEqual(treeRows('BTCUSDT').get(startDate))
  }
  return windows
}

describe('a signal during a download', () => {
  it.each(SIGNALS)('%s ends it with exit code %d promptly, and the next run requests only the rest', async (...row) => {
    const [signal, code] = row
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    const stored = [EMPTY_WEEK, FULL_WEEKS[0], FULL_WEEKS[1]].map(date => weekPath('BTCUSDT', date))
    // The server never responds to requests for the other windows.
    const never = new Promise<void>(() => {})
    server.hold = path => (/\d\.json$/.test(path) && !stored.includes(path) ? never : undefined)
    const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-o', 'x.csv']
    const { child, ended } = sandbox.start([...args, '--concurrency', '2'], {
      NODE_OPTIONS: `--import=${CLOCK} --import=${FORCED_EXIT}`,
    })
    await until(() => server.paths('windows').length === 5 && stored.every(path => sandbox.exists(join('m', path))))

    const signalled = performance.now()
    child.kill(signal)
    const run = await ended
    expect(performance.now() - signalled).toBeLessThan(PROMPT_MS)
    expect(run).toMatchObject({ code, signal: null, stdout: '' })
    const next = 'What was downloaded is kept; run the same command again to continue'
    expect(run.stderr).toMatch(new RegExp(`^klines: Interrupted \\(${signal}\\)\\. ${next}\\.\n$`))
    expect(cachedWindows(sandbox)).toEqual(stored)
    expect(sandbox.exists('x.csv')).toBe(false)

    server.reset()
    expect(await sandbox.call(args)).toMatchObject({ code: 0, stderr: '' })
    const rest = START_DATES.map(date => weekPath('BTCUSDT', date)).filter(path => !stored.includes(path))
    expect(server.paths('windows').sort()).toEqual(rest)
    expect(cachedWindows(sandbox)).toHaveLength(START_DATES.length)
    expect(sandbox.exists('x.csv')).toBe(true)
  })

  it('two at the same time, as timeout and npx pass them on, are one interruption', async () => {
    const sandbox = newSandbox()
    const server = await startTreeServer(sandbox)
    server.hold = () => new Promise(() => {})
    const { child, ended } = sandbox.start(['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url])
    await until(() => server.log.length > 0)
    // Two pending signals of a kind would be one, and two kinds may be delivered in either order.
    child.kill('SIGINT')
    child.kill('SIGTERM')
    const run = await ended
    expect(run.stderr).toMatch(/^klines: Interrupted \(SIG(INT|TERM|HUP)\)[^\n]*\n$/)
    // One that comes while Node shuts down finds no handler any more: to a shell it is a code, too.
    expect([130, 143, null]).toContain(run.code)
  })
})

describe('a signal during an export', () => {
  it('leaves the old file as it was, and no temp file', async () => {
    const [signal, code] = SIGNALS[1]
    const sandbox = newSandbox()
    const mirror = bigMirror(tempFolder())
    sandbox.write('old.csv.gz', 'old')
    const args = ['export', 'all', '-i', '15m', '--mirror', mirror, '-o', 'old.csv.gz', '--force']
    const { child, ended } = sandbox.start(args, { NODE_OPTIONS: `--import=${FORCED_EXIT}` })
    await until(() => readdirSync(sandbox.folder).length > 1)
    const signalled = performance.now()
    child.kill(signal)
    const run = await ended
    expect(performance.now() - signalled).toBeLessThan(PROMPT_MS)
    expect(run).toMatchObject({ code, signal: null, stdout: '' })
    expect(run.stderr).toMatch(new RegExp(`\\nklines: Interrupted \\(${signal}\\)[^\\n]*\\n$`))
    expect(sandbox.files()).toEqual(['old.csv.gz'])
    expect(sandbox.text('old.csv.gz')).toBe('old')
  })
})
