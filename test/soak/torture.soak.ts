import { afterAll, expect, it } from 'vitest'
import type { CallFault, Task } from '../support/cli/torture.js'
import { tortureAll, tortureLanes } from '../support/cli/torture-all.js'
import { share } from './support/factor.js'
import { printFigures } from './support/figures.js'

const TASKS: readonly Task[] = ['download', 'export']
const FAULTS: readonly CallFault[] = [
  ...['ENOSPC', 'EACCES', 'EMFILE', 'EIO', 'EROFS'].map(fault => ({ kind: 'file', fault }) as const),
  { kind: 'bytes', fault: 'short' },
  { kind: 'write', fault: 'lying' },
  // The disk is full from this call on.
  { kind: 'room', fault: 'ENOSPC', lasting: true },
  { kind: 'net', fault: 'ECONNRESET' },
  { kind: 'net', fault: 'EMFILE' },
]

const rows: Record<string, Record<string, number | string>> = {}
afterAll(() => printFigures('one call of a run fails', rows))

it.each(TASKS)('%s survives every failure of every call', async task => {
  const lanes = await tortureLanes(task)
  for (const fault of FAULTS) {
    if (task === 'export' && fault.kind === 'net') continue
    const { calls, checked, names, codes } = await tortureAll(lanes, fault, share)
    const ends = Object.entries(codes).map(([code, count]) => `${count} x ${code}`)
    const name = `${task} ${fault.kind} ${fault.fault}${fault.lasting ? ', lasting' : ''}`
    rows[name] = { calls, checked, 'kinds of call': names.length, 'exit codes': ends.join(', ') }
    expect(checked).toBeGreaterThan(0)
  }
})
