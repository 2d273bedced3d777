import { describe, expect, it } from 'vitest'
import { countRoom } from '../../src/engine/threads.js'

const limits = (bytes: number | 'unlimited') =>
  `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max address space         ${String(bytes).padEnd(20)} unlimited            bytes     
Max file locks            unlimited            unlimited            locks     
`
const status = (kB: number) => `Name:\tnode\nVmPeak:\t99999999 kB\nVmSize:\t${kB} kB\nVmRSS:\t  41000 kB\n`

describe('the workers that find room for their addresses', () => {
  it.each([
    ['any number without a limit', 'unlimited', '', Number.POSITIVE_INFINITY],
    ['none below 32 GB', 40e9, '', 0],
    ['one from 32 GB on', 45e9, '', 1],
    ['three with 100 GB', 110e9, '', 3],
    ['none when less is left than is used', 8e9, '', 0],
    ['more where Node reserves less', 20e9, '--disable-wasm-trap-handler', 4],
  ] as const)('are %s', (_, limit, options, expected) => {
    // 12 GB are in use.
    expect(countRoom({ limits: limits(limit), status: status(11_718_750) }, options)).toBe(expected)
  })

  it('are any number where the system says nothing', () => {
    expect(countRoom({ limits: '', status: '' }, '')).toBe(Number.POSITIVE_INFINITY)
  })
})
