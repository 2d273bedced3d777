import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CHANGES_FILE, listChanges } from '../../src/mirror/changes.js'
import { Mirror } from '../../src/mirror/mirror.js'
import type { ChangedCell } from '../../src/rows/diff.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow, toBatch } from '../support/windows.js'

const HOUR = 3_600_000
const OPEN = Date.UTC(2024, 1, 10, 21)
const WINDOW = { symbol: 'BTCUSDT', interval: '1h', startDate: '2024-02-01' } as const
const change = (number: number, column: ChangedCell['column'] = 'close'): ChangedCell => ({
  openTime: OPEN,
  column,
  before: `${number}.00000000`,
  after: `${number + 1}.00000000`,
})

describe('the changes of a mirror', () => {
  it('are a line for each cell, in the order in which they were seen', () => {
    const root = tempFolder()
    const mirror = new Mirror(root)
    mirror.appendChanges(WINDOW, [change(1), change(1, 'volume')], 1_764_000_000_001)
    mirror.appendChanges(WINDOW, [change(2)], 1_764_000_000_002)
    const lines = readFileSync(join(root, CHANGES_FILE), 'utf8').trimEnd().split('\n')
    expect(lines[0]).toBe(
      `{"time":1764000000001,"symbol":"BTCUSDT","interval":"1h","startDate":"2024-02-01","openTime":${OPEN},"column":"close","before":"1.00000000","after":"2.00000000"}`,
    )
    expect(lines.slice(1).map(line => JSON.parse(line))).toEqual([
      { time: 1_764_000_000_001, ...WINDOW, ...change(1, 'volume') },
      { time: 1_764_000_000_002, ...WINDOW, ...change(2) },
    ])
  })

  it('that cannot be written are lost with a warning, and the windows are not', () => {
    const root = tempFolder()
    mkdirSync(join(root, CHANGES_FILE))
    const warnings: string[] = []
    new Mirror(root, text => warnings.push(text)).appendChanges(WINDOW, [change(1)], 0)
    expect(warnings).toEqual([
      expect.stringMatching(/changes\.jsonl of the mirror .* Values that changed are not kept/),
    ])
  })
})

it('what a new version of a window changes are its cells, the candles that it adds before the last cached one and those that it withdraws, by open time', () => {
  const cached = toBatch([sampleRow(OPEN - 2 * HOUR), sampleRow(OPEN)], LEAP_MONTH)
  const cell = change(1)
  const difference = { lost: [OPEN - 2 * HOUR], added: [OPEN - HOUR, OPEN + HOUR], changed: [cell] }
  expect(listChanges(cached, difference)).toEqual([
    { openTime: OPEN - 2 * HOUR, column: 'open_time', before: String(OPEN - 2 * HOUR), after: null },
    { openTime: OPEN - HOUR, column: 'open_time', before: null, after: String(OPEN - HOUR) },
    cell,
  ])
  expect(listChanges(toBatch([], LEAP_MONTH), { ...difference, lost: [], changed: [] })).toEqual([])
})
