import { describe, expect, it } from 'vitest'
import { FOLDER_GROUPS, FOLDER_KEYS, REFUSED, USER_GROUPS } from '../../../src/cli/config/key-groups.js'
import { ALL } from '../../support/cli/command-flags.js'

const GROUPED = [...[...FOLDER_GROUPS, ...USER_GROUPS].flatMap(({ names }) => names), ...Object.keys(REFUSED)]
const FLAGS = [...new Set(ALL.flatMap(({ flags }) => Object.keys(flags)))]

describe('who may set which flag', () => {
  it('is decided for every flag of every command', () => {
    expect(FLAGS.filter(name => !GROUPED.includes(name))).toEqual([])
  })

  it('is decided once, and for no flag that there is not', () => {
    // oclif adds these to every command.
    const known = [...FLAGS, 'help', 'version']
    expect(GROUPED.filter((name, index) => GROUPED.indexOf(name) !== index || !known.includes(name))).toEqual([])
  })

  it("a folder's file may set what is shown, ranges, limits, and where candles come from", () => {
    expect([...FOLDER_KEYS].sort().join(' ')).toBe(
      'all ascii base-url columns compression concurrency derive fingerprint format from height interval json last limit log max-rate mirror numbers ' +
        'offline partial per-series progress quiet resample retries tail theme time-format timeout to verbose width',
    )
  })
})
