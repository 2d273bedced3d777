import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startServeCommand } from '../support/servers/serve-command.js'
import { FULL_WEEKS, OPEN_WEEK, weekPath } from '../support/synthetic-tree.js'
import { type FaultScenario, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const hasNamespaces = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
const FINAL = weekPath('BTCUSDT', FULL_WEEKS[0])
const STORED = weekPath('BTCUSDT', FULL_WEEKS[1])
const OPEN = weekPath('BTCUSDT', OPEN_WEEK)
const OTHERS = FULL_WEEKS.map(date => weekPath('ETHUSDT', date))

/** Starts `serve --upstream` after a script has prepared the disk of the mirror `m`, in a mount namespace. */
function serveOn(scenario: FaultScenario, script: string) {
  const serve = `exec klines serve --port 0 --mirror m --upstream --base-url ${scenario.server.url}`
  const running = scenario.sandbox.startShell(`exec unshare -rm bash -c '${script} && ${serve}'`)
  return startServeCommand(scenario.sandbox, [], running)
}

describe.runIf(hasNamespaces)('F67 serve with upstream on (skipped without unshare -rm and tmpfs)', () => {
  it('a full disk answers what it has and what it fetches, from memory', async () => {
    const scenario = await newScenario()
    const { server: service, sandbox } = scenario
    // A mirror with one window of the service.
    const prepare = await sandbox.call([
      ...'download BTCUSDT -i 15m --mirror ready --base-url'.split(' '),
      service.url,
      '--from',
      FULL_WEEKS[1],
      '--to',
      FULL_WEEKS[2],
    ])
    expect(prepare.code).toBe(0)
    service.heal()
    const disk = 'mkdir m && mount -t tmpfs -o size=24k none m && cp -r ready/. m'
    const server = await serveOn(scenario, `${disk} && { cat /dev/zero > m/full || true; } 2> errors`)
    for (let round = 0; round < 3; round++) {
      for (const path of [STORED, FINAL, OPEN, ...OTHERS]) {
        const response = await fetch(`${server.url}/${path}`)
        expect([response.status, response.headers.get('warning')], path).toEqual([200, null])
        expect(Buffer.from(await response.arrayBuffer()).equals(readFileSync(join(scenario.tree, path))), path).toBe(
          true,
        )
      }
    }
    // An open window is revalidated, a final one is not requested again.
    expect(service.requestsFor(FINAL)).toHaveLength(1)
    expect(service.requestsFor(OPEN).map(({ head }) => /if-modified-since/i.test(head))).toEqual([false, true, true])
    const { stderr } = await server.stop()
    const warnings = stderr.split('\n').filter(line => line.includes('memory'))
    expect(warnings).toEqual([expect.stringContaining('(ENOSPC). Continuing in memory')])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
