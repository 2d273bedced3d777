import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drawFrame, type FrameOptions } from '../../src/chart/terminal/frame.js'
import { daily, type Prices, zigzag } from '../support/chart-series.js'
import { plotOracle, volumeOracle } from '../support/oracles/frame-oracle.js'

/** 24 rows: 2 of the title, a blank one, 16 for prices, 3 for volume, 2 for the time axis. */
const SIZE = { width: 80, height: 24, log: false, colour: false, ascii: false }

const draw = (candles: Parameters<typeof drawFrame>[0], options: Partial<FrameOptions> = {}) =>
  drawFrame(candles, { ...SIZE, ...options })

/**
 * All frames of `zigzag` follow from these rules:
 * - Prices go from 0 to 32 over 16 rows, so price p is half row p from the bottom: rows 15, 10, 5 and 0 from the bottom have the
 *   ticks 30, 20, 10 and 0 (more than 5 ticks do not fit into 16 rows), and the row of half rows 4 and 5 has the last price, 4.
 * - A character is one of `BOXES` for its upper and its lower half: nothing, wick or body. Without colour a row of a rising
 *   candle with any body is `║`. Day 1, for example, has a wick from 3, a body from 5 to 8 and a wick up to 10. From the bottom: half rows 0 and 1
 *   are blank, 2 and 3 `╵`, 4 and 5 `╿`, 6 and 7 `┃`, 8 and 9 `╽`, 10 and 11 `╷`: without colour `╵║║║╷`.
 * - The volume is 1 to 24 eighths of a row, over 3 rows. Mondays have a label: every seventh day from day 0.
 */
const AT_80 = `
BTCUSDT 1d  2024-01-01 to 2024-02-09 UTC, 39 candles, 1 missing  0.00%
high 32 on 2024-01-20, low 0 on 2024-01-01, last 4

                   │                     ┤ 30
                   │╷                    │
                 ╷│║╽│╷                  │
               ╷│║║║┃┃╽│╷                │
             ╷│║║║║║╿┃┃┃╽│╷              │
           ╷│║║║║║│╵╵│╿┃┃┃╽│╷            ┤ 20
         ╷ ║║║║║│╵    ╵│╿┃┃┃╽│╷          │
       ╷│║ ║║║│╵        ╵│╿┃┃┃╽│╷        │
     ╷│║║║ ║│╵            ╵│╿┃┃┃╽│╷      │
   ╷│║║║║║ ╵                ╵│╿┃┃┃╽│╷    │
 ╷│║║║║║│╵                    ╵│╿┃┃┃╽│╷  ┤ 10
│║║║║║│╵                        ╵│╿┃┃┃╽│ │
║║║║│╵                            ╵│╿┃┃┃ │
║║│╵                                ╵│╿┃ ◂ 4
│╵                                    ╵│ │
│                                        ┤ 0
                ▁▂▃▄▅▆▇█                   24 vol
        ▁▂ ▄▅▆▇█████████        ▁▂▃▄▅▆▇█
▁▂▃▄▅▆▇███ █████████████▁▂▃▄▅▆▇█████████
┬──────┬──────┬──────┬──────┬──────┬────
01-01  01-08  01-15  01-22  01-29  02-05`

const lines = (text: string) => text.split('\n').slice(1)

describe('the frame of a series whose rule can be checked by hand', () => {
  it('at 80 columns, without colour', () => {
    expect(draw(zigzag())).toEqual(lines(AT_80))
  })

  it('is green where candles rise and red where they fall, with a faint axis and a strong name', () => {
    const frame = draw(zigzag(), { colour: true })
    const [green, red, faint, strong] = [32, 31, 2, 1].map(code => `\x1b[${code}m`)
    const [noColour, noWeight] = ['\x1b[39m', '\x1b[22m']
    expect(frame[0]).toBe(
      `${strong}BTCUSDT 1d  ${noWeight}2024-01-01 to 2024-02-09 UTC, 39 candles, 1 missing  ${green}0.00%${noColour}`,
    )
    // Day 19 rises and day 20 falls.
    const blanks = (count: number) => ' '.repeat(count)
    expect(frame[4]).toBe(`${blanks(19)}${green}│${noColour}${red}╷${blanks(20)}${noColour}${faint}│${noWeight}`)
    // A falling last candle has a red price.
    expect(frame[16].slice(frame[16].lastIndexOf(red))).toBe(`${red}╵│╿┃ ◂ 4${noColour}`)
    expect(draw(zigzag()).join('')).not.toContain('\x1b')
    const falling = { open: 5, high: 6, low: 1, close: 4, volume: 1 }
    expect(draw(daily([falling]), { colour: true })[0]).toContain(`${red}-20.00%${noColour}`)
  })
})

describe('any candles', () => {
  const prices = fc
    .tuple(fc.array(fc.integer({ min: 0, max: 32 }), { minLength: 4, maxLength: 4 }), fc.integer({ min: 0, max: 24 }))
    .map(([values, volume]): Prices => {
      const [low, open, close, high] = values.toSorted((a, b) => a - b)
      return values[0] > values[1]
        ? { low, open, close, high, volume }
        : { low, open: close, close: open, high, volume }
    })
  /** From a candle that fixes the axis and the highest volume to one that ends the series. */
  const series = fc
    .array(fc.option(prices, { nil: undefined }), { maxLength: 30 })
    .map(days => [
      { open: 0, high: 32, low: 0, close: 32, volume: 24 },
      ...days,
      ...days.filter(day => day).slice(0, 1),
    ])

  it.each([
    { width: 80, hollow: true, ascii: false, colour: false },
    { width: 80, hollow: false, ascii: false, colour: true },
    { width: 80, hollow: false, ascii: true, colour: false },
  ])('have the plot that half rows joined in pairs give: %o', ({ width, hollow, ascii, colour }) => {
    fc.assert(
      fc.property(series, days => {
        while (days.length > 1 && days[days.length - 1] === undefined) days.pop()
        const room = (width - 3 - '24 vol'.length) / days.length
        const pitch = room < 2 ? 1 : Math.min(6, room)
        const frame = draw(daily(days), { width, ascii, colour }).map(stripVTControlCharacters)
        const titleRows = frame.indexOf('')
        fc.pre(titleRows === 2)
        const plot = frame.slice(3, 22).map(line => line.padEnd(200).slice(0, Math.floor(pitch * days.length)))
        const expected = plotOracle(days, { rows: 16, pitch, hollow, ascii })
        expect(plot.slice(0, 16)).toEqual(expected)
        if (!ascii) expect(plot.slice(16)).toEqual(volumeOracle(days, pitch))
      }),
    )
  })

  it('one candle, and equal prices, stand in the middle of the axis', () => {
    const flat = { open: 5, high: 5, low: 5, close: 5, volume: 0 }
    const frame = draw(daily([flat]))
    expect(frame[0]).toBe('BTCUSDT 1d  2024-01-01 UTC, 1 candle  0.00%')
    // No volume takes rows. From 4.75 to 5.25 in 38 half rows, 5 is half row 19: the upper half of the tenth row from the top.
    expect(frame.slice(3, 22).map(line => line.slice(0, 3).trim())).toEqual([
      ...Array(9).fill(''),
      '║',
      ...Array(9).fill(''),
    ])
    expect(frame[12]).toMatch(/◂ 5$/)
    expect(draw(daily([flat, flat, flat]))[12]).toMatch(/^ {2}║ {5}║ {5}║ {3} ◂/)
  })
})

it('the width is used, also by a number of candles that does not divide it', () => {
  const day = { open: 1, high: 3, low: 1, close: 2, volume: 1 }
  for (const [count, columns] of [
    [67, 200],
    [40, 200],
    [90, 200],
    [20, 80],
  ])
    expect(draw(daily(Array(count).fill(day)), { width: columns })[5].length, String(count)).toBeGreaterThan(
      columns - 12,
    )
})

it('a narrow terminal wraps the title between its words', () => {
  expect(draw(zigzag(), { width: 40 }).slice(0, 6)).toEqual([
    'BTCUSDT 1d',
    '2024-01-01 to 2024-02-09 UTC,',
    '39 candles, 1 missing  0.00%',
    'high 32 on 2024-01-20,',
    'low 0 on 2024-01-01, last 4',
    '',
  ])
})
