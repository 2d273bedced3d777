import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CandleFitter } from '../../src/chart/candle-fitter.js'
import { candlesThatFit, drawFrame, type FrameOptions } from '../../src/chart/terminal/frame.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { daily, type Prices, zigzag } from '../support/chart-series.js'
import { plotOracle, volumeOracle } from '../support/oracles/frame-oracle.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'

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

const AT_120 = `
BTCUSDT 1d  2024-01-01 to 2024-02-09 UTC, 39 candles, 1 missing  0.00%
high 32 on 2024-01-20, low 0 on 2024-01-01, last 4

                                      │                                          ┤ 30
                                      │ ╷                                        │
                                  ╷ │ ╽ ╽ │ ╷                                    │
                              ╷ │ ╽ ┃ ┃ ┃ ┃ ╽ │ ╷                                │
                          ╷ │ ╽ ┃ ┃ ┃ ╿ ╿ ┃ ┃ ┃ ╽ │ ╷                            │
                      ╷ │ ╽ ┃ ┃ ┃ ╿ │ ╵ ╵ │ ╿ ┃ ┃ ┃ ╽ │ ╷                        ┤ 20
                  ╷   ╽ ┃ ┃ ┃ ╿ │ ╵         ╵ │ ╿ ┃ ┃ ┃ ╽ │ ╷                    │
              ╷ │ ╽   ┃ ┃ ╿ │ ╵                 ╵ │ ╿ ┃ ┃ ┃ ╽ │ ╷                │
          ╷ │ ╽ ┃ ┃   ╿ │ ╵                         ╵ │ ╿ ┃ ┃ ┃ ╽ │ ╷            │
      ╷ │ ╽ ┃ ┃ ┃ ╿   ╵                                 ╵ │ ╿ ┃ ┃ ┃ ╽ │ ╷        │
  ╷ │ ╽ ┃ ┃ ┃ ╿ │ ╵                                         ╵ │ ╿ ┃ ┃ ┃ ╽ │ ╷    ┤ 10
│ ╽ ┃ ┃ ┃ ╿ │ ╵                                                 ╵ │ ╿ ┃ ┃ ┃ ╽ │  │
┃ ┃ ┃ ╿ │ ╵                                                         ╵ │ ╿ ┃ ┃ ┃  │
┃ ╿ │ ╵                                                                 ╵ │ ╿ ┃  ◂ 4
│ ╵                                                                         ╵ │  │
│                                                                                ┤ 0
                                ▁ ▂ ▃ ▄ ▅ ▆ ▇ █                                    24 vol
                ▁ ▂   ▄ ▅ ▆ ▇ █ █ █ █ █ █ █ █ █                 ▁ ▂ ▃ ▄ ▅ ▆ ▇ █
▁ ▂ ▃ ▄ ▅ ▆ ▇ █ █ █   █ █ █ █ █ █ █ █ █ █ █ █ █ ▁ ▂ ▃ ▄ ▅ ▆ ▇ █ █ █ █ █ █ █ █ █
┬─────────────┬─────────────┬─────────────┬─────────────┬─────────────┬─────────
01-01         01-08         01-15         01-22         01-29         02-05`

/** A body is `O` or `#`, else a wick `|`. Volume: `.` below half a row, `:` from there on, `#` for a whole row. */
const ASCII = `
BTCUSDT 1d  2024-01-01 to 2024-02-09 UTC, 39 candles, 1 missing  0.00%
high 32 on 2024-01-20, low 0 on 2024-01-01, last 4

                   |                     + 30
                   ||                    |
                 ||O#||                  |
               ||OOO###||                |
             ||OOOOO#####||              |
           ||OOOOO||||#####||            + 20
         | OOOOO||    ||#####||          |
       ||O OOO||        ||#####||        |
     ||OOO O||            ||#####||      |
   ||OOOOO |                ||#####||    |
 ||OOOOO||                    ||#####||  + 10
|OOOOO||                        ||#####| |
OOOO||                            ||#### |
OO||                                ||## < 4
||                                    || |
|                                        + 0
                ...::::#                   24 vol
        .. ::::#########        ...::::#
...::::### #############...::::#########
+------+------+------+------+------+----
01-01  01-08  01-15  01-22  01-29  02-05`

const lines = (text: string) => text.split('\n').slice(1)

describe('the frame of a series whose rule can be checked by hand', () => {
  it('at 80 columns, without colour', () => {
    expect(draw(zigzag())).toEqual(lines(AT_80))
  })

  it('at 120 columns there are two columns a candle', () => {
    expect(draw(zigzag(), { width: 120, colour: true }).map(stripVTControlCharacters)).toEqual(lines(AT_120))
  })

  it('in ASCII', () => {
    expect(draw(zigzag(), { ascii: true })).toEqual(lines(ASCII))
    expect(draw(zigzag(), { ascii: true }).join('')).toMatch(/^[ -~]*$/)
  })

  it('at 200 columns there are three columns a candle, which stands in the middle one', () => {
    const [top] = draw(zigzag(), { width: 200 }).slice(3)
    expect(top).toBe(`${' '.repeat(3 * 19 + 1)}│${' '.repeat(3 * 20 + 2)}┤ 30`)
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
  })
})

/**
 * The plot, the prices and the title of these 60 real candles were drawn by another program, of which only the sign of the
 * percentage and the labels of the months differ.
 */
const REAL = `
BTCUSDT 1d  2026-03-01 to 2026-04-29 UTC, 60 candles  +13.15%
high 79485.66 on 2026-04-27, low 65000 on 2026-03-29, last 75780

                                                    │╷╷ ║╽   │
                                               │╷   ║║┃║║┃╻│ │
                                               ║┃╷╷║║╵ ╵ │┃╽ │
                │                           │╷║║╿┃║║╵     ╵╿ ◂ 75780
   ╷           ║┃│                         ║╽║║╵ ┃║╵       ╵ ┤ 75000
   ││       │ ║║╹┃                    ╷╷║║╻║╵╵│  ╹║          │
   ║┃    ╷  │ ║╵ ┃    ╷ ╷            ║╽║║╵┃║                 │
   ║┃╽   ││╷║║║  ╿┃│╷ ║╽║┃           ║┃║╵ ┃║                 │
 │ ║ ┃  ╷║║║║╵   ╵┃║┃╷║╿║┃          │║ ╵  ╵╵                 ┤ 70000
 ║╽║ ┃╷ ║║╵╵      │╵╿┃║╵ ┃╽   ╷│╷  ║┃║                       │
│║╿║ ╿┃╽║            ╿║  ╵┃╷ │║╿┃╷║║╵│                       │
┃║│   ╵┃║                 ┃╽╽║║ ╿║║│                         │
╿║     ╹║                 │╵╿║╵ ╵                            ┤ 65000
 ▁ █     ▁  ▃                                                  44.9K vol
▄█▅█▆▄ ▄▇█▇▄█  ▇▅▄▄▂  ▇▃▁▃▇  ▂▄▂▃   ▃▅▃▂▁  ▅▆ ▁▆  ▁ ▃▁   ▁ ▂
██████▇██████▇██████▇██████▆▅████▆▄▆█████▅▇█████▅▆████▇▃▄█▇█
─┬──────┬──────┬──────┬──────┬──────┬──────┬──────┬──────┬──
 03-02  03-09  03-16  03-23  03-30  04-06  04-13  04-20  04-27`

it.skipIf(!hasRealTree)('the frame of real candles', () => {
  const series = { symbol: 'BTCUSDT', interval: '1d' } as const
  const fitter = new CandleFitter(series, { maxCandles: candlesThatFit(73), keep: 'newest' })
  for (const startDate of ['2024-01-01', '2026-01-01']) {
    const bytes = readFileSync(join(realTree(), `api/klines/1d/BTCUSDT/${startDate}.json`))
    fitter.add(decodeWindow(bytes, { ...series, startDate }))
  }
  // 21 rows: 13 for prices.
  expect(draw(fitter.end(), { width: 73, height: 21 })).toEqual(lines(REAL))
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
        const columns = Math.min(3, Math.floor((width - 3 - '24 vol'.length) / days.length))
        const frame = draw(daily(days), { width, ascii, colour }).map(stripVTControlCharacters)
        const titleRows = frame.indexOf('')
        fc.pre(titleRows === 2)
        const plot = frame.slice(3, 22).map(line => line.padEnd(200).slice(0, columns * days.length))
        const expected = plotOracle(days, { rows: 16, columns, hollow, ascii })
        expect(plot.slice(0, 16)).toEqual(expected)
        if (!ascii) expect(plot.slice(16)).toEqual(volumeOracle(days, columns))
      }),
    )
  })

  it('no line is wider than the width, and there are as many as the height', () => {
    const size = fc.record({ width: fc.integer({ min: 1, max: 200 }), height: fc.integer({ min: 1, max: 40 }) })
    const flags = fc.record({ log: fc.boolean(), colour: fc.boolean(), ascii: fc.boolean() })
    fc.assert(
      fc.property(series, size, flags, (days, { width, height }, rest) => {
        while (days.length > 1 && days[days.length - 1] === undefined) days.pop()
        const fitting = days.slice(0, candlesThatFit(width))
        while (fitting.length > 1 && fitting[fitting.length - 1] === undefined) fitting.pop()
        const frame = drawFrame(daily(fitting), { width, height, ...rest }).map(stripVTControlCharacters)
        // A terminal that is too narrow or too low gets the smallest chart.
        expect(Math.max(...frame.map(line => line.length))).toBeLessThanOrEqual(Math.max(40, width))
        expect(frame.length).toBeLessThanOrEqual(Math.max(16, height))
        expect(frame.length).toBeGreaterThanOrEqual(height)
        for (const line of frame) expect(line).toBe(line.trimEnd())
      }),
    )
  })

  it('one candle, and equal prices, stand in the middle of the axis', () => {
    const flat = { open: 5, high: 5, low: 5, close: 5, volume: 0 }
    const frame = draw(daily([flat]))
    expect(frame[0]).toBe('BTCUSDT 1d  2024-01-01 UTC, 1 candle  0.00%')
    // From 4.75 to 5.25 in 32 half rows, 5 is half row 16: the lower half of the eighth row from the top.
    expect(frame.slice(3, 19).map(line => line.slice(0, 3).trim())).toEqual([
      ...Array(7).fill(''),
      '║',
      ...Array(8).fill(''),
    ])
    expect(frame[10]).toMatch(/◂ 5$/)
    expect(draw(daily([flat, flat, flat]))[10]).toMatch(/^ ║ {2}║ {2}║ /)
  })

  it('from 0.00000001 to 100000, a log scale has readable ticks', () => {
    const fitted = daily([{ open: 1, high: 1, low: 1, close: 1, volume: 1 }])
    const [slot] = fitted.slots
    const candle = {
      openTime: slot.openTime,
      open: '1',
      high: '100000.00',
      low: '0.00000001',
      close: '50',
      volume: '1',
    }
    const wide = { ...fitted, slots: [{ ...slot, candle }] }
    const ticks = draw(wide, { log: true }).flatMap(line => /[┤] (.*)$/.exec(line)?.[1] ?? [])
    // 14 powers of ten, of which 16 rows have room for 5: every third one, from 1.
    expect(ticks).toEqual(['1000', '1', '0.001', '0.000001'])
    expect(draw(wide, { log: true })[1]).toBe('high 100000 on 2024-01-01, low 0.00000001 on 2024-01-01, last 50')
  })

  it('without a candle there is no line', () => {
    expect(draw({ ...zigzag(), slots: [], candles: 0 })).toEqual([])
  })
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
