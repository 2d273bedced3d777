import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { until } from '../support/deferred.js'
import { csvOf } from '../support/sample-tree.js'
import type { Answer } from '../support/servers/scripted-server.js'
import { EMPTY_WEEK, FULL_WEEKS, treeRows, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()

/** A sandbox, the server of a synthetic tree, and the arguments that download from it. */
async function newDownload() {
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox)
  return { sandbox, server, args: ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'] }
}

it('an interruption says how much was done', async () => {
  const { sandbox, server, args } = await newDownload()
  const stored = [EMPTY_WEEK, FULL_WEEKS[0]].map(date => weekPath('BTCUSDT', date))
  server.hold = path => (/\d\.json$/.test(path) && !stored.includes(path) ? new Promise(() => {}) : undefined)
  const { child, ended } = sandbox.start([...args, '--concurrency', '2'])
  await until(() => server.paths('windows').length === 4)
  child.kill('SIGINT')
  expect(await ended).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(
      /^klines: Interrupted \(SIGINT\) after 2 of 8 windows \([\d.]+ k?B received\)\. What was downloaded is kept; run the same command again to continue\.\n$/,
    ),
  })
})

describe.skipIf(!hasScript)('progress at a terminal (skipped without script of util-linux)', () => {
  const [SHOWS, HIDES] = ['\u001B[?25l', '\u001B[?25h']

  it('is a bar, which is gone before the summary', async () => {
    const { sandbox, args } = await newDownload()
    const run = await atTerminal(sandbox, `klines ${args.join(' ')}`)
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('Fetching lists')
    expect(run.stdout).toMatch(/█{16} 100% {2}8 of 8 windows/)
    const rest = run.stdout.slice(run.stdout.lastIndexOf('8 of 8 windows'))
    expect(rest.slice(0, rest.indexOf('symbol'))).toContain(HIDES)
    expect(rest.slice(rest.indexOf('symbol'))).not.toContain('\u001B[2K')
  })

  it('is gone before data goes to the same terminal', async () => {
    const { sandbox, args } = await newDownload()
    const run = await atTerminal(sandbox, `klines ${args.join(' ')} -f csv`)
    expect(run.code).toBe(0)
    const csv = csvOf([...treeRows('BTCUSDT').values()].flat()).replaceAll('\n', '\r\n')
    const start = run.stdout.indexOf('open_time')
    expect(run.stdout.slice(0, start)).toContain(SHOWS)
    expect(run.stdout.slice(0, start)).toContain(HIDES)
    expect(run.stdout.slice(start, start + csv.length)).toBe(csv)
    expect(run.stdout.slice(start + csv.length)).not.toMatch(/windows|Fetching|\u2588/)
  })

  it.each([
    ['retries', Array(3).fill({ status: 503 }), 'retrying 1 window: status 503'],
    ['waits', [{ status: 429, headers: { 'retry-after': '1' } }], 'rate limited, resuming in 1 s'],
  ] as [string, Answer[], string][])('shows %s', async (_, answers, expected) => {
    const { sandbox, server, args } = await newDownload()
    server.script(weekPath('BTCUSDT', FULL_WEEKS[1]), ...answers)
    const run = await atTerminal(sandbox, `klines ${args.join(' ')}`)
    expect(run.code).toBe(0)
    expect(run.stdout).toContain(expected)
  })
})
