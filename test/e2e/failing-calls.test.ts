import { expect, it } from 'vitest'
import type { CallFault, Task } from '../support/cli/torture.js'
import { tortureAll, tortureLanes } from '../support/cli/torture-all.js'

/** Starting Node some hundreds of times takes its time. */
const LIMIT_MS = 300_000

/** The calls without which a run cannot be; the long form, with every fault there is, is `npm run test:soak`. */
const CASES: [Task, (CallFault & { calls: string[] })[]][] = [
  [
    'download',
    [
      {
        kind: 'room',
        fault: 'ENOSPC',
        // The output is opened while windows come, at another place in each run: test/faults fails that by its name.
        calls: ['handle.sync', 'handle.write', 'mkdirSync', 'openSync', 'promises.rename', 'renameSync', 'writeSync'],
      },
      { kind: 'net', fault: 'ECONNRESET', calls: ['connect', 'read', 'write'] },
    ],
  ],
  [
    'export',
    [
      { kind: 'room', fault: 'ENOSPC', calls: ['handle.sync', 'handle.write', 'promises.open', 'promises.rename'] },
      {
        kind: 'file',
        fault: 'EIO',
        calls: ['fstatSync', 'handle.close', 'handle.stat', 'openSync', 'readSync'],
      },
    ],
  ],
]

it.each(CASES)(
  '%s with any one call failing ends as documented, and the next run repairs all',
  async (task, faults) => {
    const lanes = await tortureLanes(task)
    for (const { calls, ...fault } of faults) {
      const { names } = await tortureAll(lanes, fault)
      expect(names).toEqual(expect.arrayContaining(calls))
    }
  },
  LIMIT_MS,
)
