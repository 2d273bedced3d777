import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectPlainText } from './support/fault-case.js'
import { useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()

describe('F63 mirror.json', () => {
  const WARNING = /^Note: m\/mirror\.json cannot be read\. The mirror's source counts as unknown\.\n/

  it.concurrent('that is cut short: one warning, offline commands work, a download writes it again', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    const meta = join(scenario.mirror, 'mirror.json')
    const before = readFileSync(meta, 'utf8')
    writeFileSync(meta, '{\n  "layout": 1,\n  "base')
    const offline = await scenario.run('export BTCUSDT -i 15m --mirror m -o y.csv --to 2025-02-17'.split(' '))
    expect(offline.code).toBe(0)
    expect(offline.stderr).toMatch(WARNING)
    expect(offline.stderr.match(/mirror\.json/g)).toHaveLength(1)
    expectPlainText(offline.stdout + offline.stderr)
    expect(scenario.sandbox.text('y.csv')).toBe(scenario.expectedCsv())
    rmSync(scenario.sandbox.path('y.csv'))
    for (const command of ['mirror', 'verify BTCUSDT -i 15m']) {
      const run = await scenario.run([...command.split(' '), '--mirror', 'm'])
      expect(run.code, `${command}: ${run.stderr}`).toBe(0)
      expectPlainText(run.stdout + run.stderr)
    }
    scenario.server.heal()
    const run = await scenario.download({ args: ['--force'] })
    expect(run.code).toBe(0)
    expect(run.stderr.match(/mirror\.json/g)).toHaveLength(1)
    expect(readFileSync(meta, 'utf8')).toBe(before)
    await scenario.expectRepair()
  })
})
