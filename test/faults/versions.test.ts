import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SHORT_DELAYS } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, LIST, useFaultScenarios } from './support/fault-scenario.js'
import type { FaultResponse } from './support/fault-server.js'
import { cutAt, reply } from './support/responses.js'

const newScenario = useFaultScenarios()

describe('versions of a file', () => {
  it.concurrent('F37 a file that changes between two attempts is stored as one version, never as a mix', async () => {
    const scenario = await newScenario()
    const old = Buffer.from(readFileSync(join(scenario.tree, FAULTY), 'utf8').replaceAll('.12345678', '.87654321'))
    const half: FaultResponse = request => cutAt('middle', 'close')({ ...request, file: old, times: ['ETag: W/"1"'] })
    scenario.server.script(FAULTY, half, reply('200 OK', ['ETag: W/"2"']))
    const run = await scenario.download({ policy: SHORT_DELAYS })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(
      scenario.server.requestsFor(FAULTY).map(({ head }) => /^(range|if-range|if-none-match)/im.test(head)),
    ).toEqual([false, false])
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
    expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
  })

  it.concurrent('F38 304 for a file that is corrupt in the mirror: the request is unconditional', async () => {
    const scenario = await newScenario()
    expect((await scenario.downloadInProcess()).code).toBe(0)
    scenario.server.heal()
    scenario.sandbox.write(`m/${FAULTY}`, '[[1')
    scenario.server.always(FAULTY, reply('304 Not Modified', [], ''))
    const run = await scenario.download({ policy: SHORT_DELAYS, args: ['--force'] })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/1 x status 304, which was not requested \(/)
    expect(scenario.server.requestsFor(FAULTY)).toHaveLength(3)
    for (const { head } of scenario.server.requestsFor(FAULTY)) expect(head).not.toMatch(/if-modified-since/i)
    await scenario.expectRepair([FAULTY])
  })
})
