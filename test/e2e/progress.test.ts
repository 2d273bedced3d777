import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { csvOf } from '../support/sample-tree.js'
import { FULL_WEEKS, treeRows, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()

/** A sandbox, the server of a synthetic tree, and the arguments that download from it. */
async function newDownload() {
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox)
  return { sandbox, server, args: ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm'] }
}

describe.skipIf(!hasScript)('progress at a terminal (skipped without script of util-linux)', () => {
  const [SHOWS, HIDES, COLOURS] = ['\u001B[?25l', '\u001B[?25h', '\u001B[36m']

  it('is a bar with colours, which shows waits and is gone before the summary', async () => {
    const { sandbox, server, args } = await newDownload()
    server.script(weekPath('BTCUSDT', FULL_WEEKS[1]), { status: 429, headers: { 'retry-after': '1' } })
    const run = await atTerminal(sandbox, `klines ${args.join(' ')}`)
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('Fetching lists')
    expect(run.stdout).toContain(COLOURS)
    expect(run.stdout).toContain('rate limited, resuming in 1 s')
    expect(run.stdout).toMatch(/█{16} 100% {2}8 of 8 windows/)
    const rest = run.stdout.slice(run.stdout.lastIndexOf('8 of 8 windows'))
    expect(rest.slice(0, rest.indexOf('symbol'))).toContain(HIDES)
    expect(rest.slice(rest.indexOf('symbol'))).not.toContain('\u001B[2K')
  })

  it('has no colours with NO_COLOR, and is gone before data goes to the same terminal', async () => {
    const { sandbox, args } = await newDownload()
    const run = await atTerminal(sandbox, `klines ${args.join(' ')} -f csv`, { env: { NO_COLOR: '1' } })
    expect(run.code).toBe(0)
    expect(run.stdout).not.toContain(COLOURS)
    const csv = csvOf([...treeRows('BTCUSDT').values()].flat()).replaceAll('\n', '\r\n')
    const start = run.stdout.indexOf('open_time')
    expect(run.stdout.slice(0, start)).toContain(SHOWS)
    expect(run.stdout.slice(0, start)).toContain(HIDES)
    expect(run.stdout.slice(start, start + csv.length)).toBe(csv)
    expect(run.stdout.slice(start + csv.length)).not.toMatch(/windows|Fetching|\u2588/)
  })

  it('is not shown with --json', async () => {
    const { sandbox, args } = await newDownload()
    const run = await atTerminal(sandbox, `klines ${args.join(' ')} --json`)
    expect([run.code, run.stdout.includes(SHOWS), run.stdout.includes(COLOURS)]).toEqual([0, false, false])
  })
})
