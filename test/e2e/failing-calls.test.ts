import { expect, it } from 'vitest'
import { callNumbers, callsOfEachKind, FULL } from '../support/cases.js'
import type { CallFault, Task } from '../support/cli/torture.js'
import { tortureAll, tortureLanes } from '../support/cli/torture-all.js'

/** It starts Node some hundreds of times. */
const LIMIT_MS = 300_000

/** The most important kinds of calls; `npm run test:soak` fails all calls in every way. */
const CASES: [Task, (CallFault & { calls: string[] })[]][] = [
  [
    'download',
    [
      {
        kind: 'room',
        fault: 'ENOSPC',
        // The output is opened while windows arrive, at another index in each run: test/faults fails it by its name. The mirror
        // has its folders: test/e2e/folders.test.ts has those that cannot be made.
        calls: ['handle.sync', 'handle.write', 'openSync', 'promises.rename', 'renameSync', 'writeSync'],
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
  '%s with one failing call ends as documented, and the next run repairs everything',
  async (task, faults) => {
    const lanes = await tortureLanes(task)
    for (const { calls, ...fault } of faults) {
      const choose = (all: readonly number[], kinds: readonly string[]) =>
        FULL ? callsOfEachKind(kinds, 4) : callNumbers(all.length, 1, 24)
      const { names } = await tortureAll(lanes, fault, choose)
      expect(names.length).toBeGreaterThan(0)
      if (FULL) expect(names).toEqual(expect.arrayContaining(calls))
    }
  },
  LIMIT_MS,
)
